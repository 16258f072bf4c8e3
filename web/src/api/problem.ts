import type { components } from './schema';

type ProblemBody = components['schemas']['ProblemBody'];

/** An error response of the server with its stable code; `offline` if there was no response. */
export class Problem extends Error {
  readonly code: string;
  readonly status: number;
  readonly body: Partial<ProblemBody>;

  constructor(status: number, body: Partial<ProblemBody>) {
    super(body.detail ?? body.title ?? body.code ?? `HTTP ${status}`);
    this.name = 'Problem';
    this.status = status;
    this.code = body.code ?? (status === 0 ? 'offline' : 'internal');
    this.body = body;
  }

  /** Whether the server refused the request, so that nothing was or will be changed. */
  get refused(): boolean {
    return this.status >= 400 && this.status < 500 && !this.passing;
  }

  /** Whether the same request can be sent again. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 502 || this.code === 'busy';
  }
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(0, { code: 'offline', title: error instanceof Error ? error.message : String(error) });
}
