import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

const CLIENT = 'holdpoint';

interface Granted {
  nonce: string;
  challenge: string;
  redirect: string;
}

/** An OpenID provider with one user: it shows a sign-in page and signs tokens with a published key. */
export class Provider {
  address = '';
  role = 'holdpoint-operator';
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  private readonly codes = new Map<string, Granted>();
  private readonly web = createServer((from, to) => void this.reply(from, to));

  async start(): Promise<string[]> {
    await new Promise<void>((resolve) => this.web.listen(0, '127.0.0.1', resolve));
    const address = this.web.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    this.address = `http://127.0.0.1:${address.port}`;
    return ['--oidc-issuer', this.address, '--oidc-client-id', CLIENT, '--oidc-role-claim', 'roles'];
  }

  async stop(): Promise<void> {
    this.web.closeAllConnections();
    await new Promise((resolve) => this.web.close(resolve));
  }

  private async reply(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const url = new URL(from.url ?? '/', this.address);
    const json = (body: unknown, status = 200) =>
      to.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/.well-known/openid-configuration') return void json(this.metadata());
    if (url.pathname === '/jwks') return void json({ keys: [this.published()] });
    if (url.pathname === '/authorize') return this.authorize(url.searchParams, to);
    if (url.pathname === '/token') return void json(...this.exchange(new URLSearchParams(await text(from))));
    to.writeHead(404).end();
  }

  private metadata() {
    return {
      issuer: this.address,
      authorization_endpoint: `${this.address}/authorize`,
      token_endpoint: `${this.address}/token`,
      jwks_uri: `${this.address}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    };
  }

  private published() {
    return { ...this.keys.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'ES256' };
  }

  /** Sign-in page of the provider; one click signs in. */
  private authorize(asked: URLSearchParams, to: ServerResponse): void {
    const value = (name: string) => asked.get(name) ?? '';
    const code = randomBytes(16).toString('hex');
    this.codes.set(code, {
      nonce: value('nonce'),
      challenge: value('code_challenge'),
      redirect: value('redirect_uri'),
    });
    const back = new URL(value('redirect_uri'));
    back.search = new URLSearchParams({ code, state: value('state') }).toString();
    to.writeHead(200, { 'Content-Type': 'text/html' });
    to.end(`<a href="${back.toString().replaceAll('&', '&amp;')}">Let Olga in</a>`);
  }

  private exchange(body: URLSearchParams): [unknown, number?] {
    const granted = this.codes.get(body.get('code') ?? '');
    this.codes.delete(body.get('code') ?? '');
    const proof = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (!granted || proof !== granted.challenge || body.get('redirect_uri') !== granted.redirect)
      return [{ error: 'invalid_grant' }, 400];
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: this.address, aud: CLIENT, sub: '42', iat: now, exp: now + 300, nonce: granted.nonce };
    const person = { preferred_username: 'olga', name: 'Olga Ivanova', roles: [this.role] };
    const token = this.signed({ ...claims, ...person });
    return [{ access_token: 'unused', token_type: 'Bearer', id_token: token }];
  }

  private signed(claims: unknown): string {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const body = `${part({ alg: 'ES256', kid: 'one' })}.${part(claims)}`;
    const key = { key: this.keys.privateKey, dsaEncoding: 'ieee-p1363' as const };
    return `${body}.${sign('sha256', Buffer.from(body), key).toString('base64url')}`;
  }
}

async function text(from: IncomingMessage): Promise<string> {
  let all = '';
  for await (const piece of from) all += piece;
  return all;
}
