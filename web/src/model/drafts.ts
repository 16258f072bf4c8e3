export type DefinitionKind = 'agent' | 'flow';

const AGENT = {
  name: 'my-agent',
  version: '1',
  description: 'What it does, in one line',
  instructions: 'You …\nAsk whenever you are not sure.',
  tools: ['ask_user'],
  model: { provider: 'anthropic', name: 'claude-sonnet-5', key_secret: 'ANTHROPIC_API_KEY' },
};

const FLOW = {
  name: 'my-flow',
  version: '1',
  description: 'What it does, in one line',
  steps: [
    {
      name: 'draft',
      agent: 'my-agent',
      input: 'Write a draft.',
      question: { kind: 'confirmation', title: 'Begin?' },
    },
  ],
};

/** Initial text for a new agent or flow: an example, or the next version of an existing one. */
export function draftOf(kind: DefinitionKind, from?: unknown): string {
  const known = fieldsOf(from);
  const draft = known
    ? { ...known, version: nextVersion(String(known.version ?? '')) }
    : kind === 'agent'
      ? AGENT
      : FLOW;
  return JSON.stringify(draft, null, 2);
}

/** Draft key; each starting text has its own. */
export function draftName(kind: DefinitionKind, from?: unknown): string {
  const known = fieldsOf(from);
  return known ? `${kind} after ${known.name} ${known.version}` : `new ${kind}`;
}

function fieldsOf(from: unknown): Record<string, unknown> | undefined {
  return typeof from === 'object' && from !== null ? (from as Record<string, unknown>) : undefined;
}

/** The next version: the last number of this version plus one. */
export function nextVersion(version: string): string {
  const match = /^(.*?)(\d+)(\D*)$/u.exec(version);
  return match ? `${match[1]}${Number(match[2]) + 1}${match[3]}` : `${version}-2`;
}
