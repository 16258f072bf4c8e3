import type { Action, Interaction, Session } from '@/api/types';
import type { Server } from './server';

type Body = Record<string, unknown>;

/** An agent that calls the API with its key. */
export class Agent {
  session = '';

  constructor(
    private readonly server: Server,
    private readonly name = 'release-bot',
  ) {}

  static async open(server: Server, title = 'Release 1.4', more: Body = {}): Promise<Agent> {
    const agent = new Agent(server);
    const session = await agent.post<Session>('/v1/sessions', { agent: agent.name, title, ...more });
    agent.session = session.id;
    return agent;
  }

  async call<T>(method: string, path: string, body?: Body): Promise<T> {
    const response = await fetch(this.server.address + path, {
      method,
      headers: { Authorization: `Bearer ${this.server.keys.get(this.name)}`, 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  post<T>(path: string, body: Body): Promise<T> {
    return this.call('POST', path, body);
  }

  /** Proposes an action for the policy to decide. */
  propose(call: string, tool: string, values: Body, more: Body = {}): Promise<Action> {
    return this.post(`/v1/sessions/${this.session}/actions`, { call_id: call, tool, arguments: values, ...more });
  }

  ask(question: Body): Promise<Interaction> {
    return this.post(`/v1/sessions/${this.session}/interactions`, question);
  }

  /** Waits by long poll, as agents do. */
  decided(interaction: string): Promise<Interaction> {
    return this.call('GET', `/v1/interactions/${interaction}?wait=20`);
  }

  action(call: string): Promise<Action> {
    return this.call('GET', `/v1/sessions/${this.session}/actions/${call}`);
  }

  async run(call: string, result: unknown): Promise<Action> {
    const { permit } = await this.action(call);
    await this.post(`/v1/sessions/${this.session}/actions/${call}/start`, { permit });
    return this.post(`/v1/sessions/${this.session}/actions/${call}/outcome`, { outcome: 'done', result });
  }

  take<T>(interaction: string): Promise<T> {
    return this.post(`/v1/interactions/${interaction}/delivery/take`, {});
  }
}
