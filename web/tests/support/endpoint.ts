import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';

/** One received message. */
export interface Message {
  id: string;
  type: string;
  body: string;
  timestamp: string;
  signatures: string[];
}

/** A webhook endpoint that records messages and replies as configured; the last reply repeats. */
export class Endpoint {
  replies = [204];
  readonly messages: Message[] = [];
  private readonly waiting = new Set<() => void>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Endpoint> {
    const server = createServer();
    const endpoint = new Endpoint(server);
    server.on('request', async (request, response) => {
      let body = '';
      for await (const part of request.setEncoding('utf8')) body += part;
      const header = (name: string) => String(request.headers[`webhook-${name}`]);
      endpoint.messages.push({
        id: header('id'),
        type: (JSON.parse(body) as { type: string }).type,
        body,
        timestamp: header('timestamp'),
        signatures: header('signature').split(' '),
      });
      const [status = 204] = endpoint.replies;
      if (endpoint.replies.length > 1) endpoint.replies.shift();
      response.writeHead(status).end(status < 300 ? '' : 'not today');
      for (const look of endpoint.waiting) look();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return endpoint;
  }

  get url(): string {
    const address = this.server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the endpoint does not listen');
    return `http://127.0.0.1:${address.port}/holdpoint`;
  }

  /** Waits for a message of an event type. */
  heard(wanted: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.messages.find(wanted);
        if (!found) return;
        this.waiting.delete(look);
        resolve(found);
      };
      this.waiting.add(look);
      look();
    });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Whether a message is signed with a secret according to Standard Webhooks. */
export function signedBy(secret: string, { id, timestamp, body, signatures }: Message): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/u, ''), 'base64');
  const own = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return signatures.includes(`v1,${own}`);
}
