import type { Me } from '@/api/people';
import { quoted } from '@/model/subject';

type ProjectNames = Pick<Me, 'tenant' | 'project'>;

/** Steps to connect an agent to the reader's project: a key and two requests. */
export function connectScript(origin: string, project?: ProjectNames): string {
  const at = (['tenant', 'project'] as const)
    .filter((name) => project && project[name] !== 'default')
    .map((name) => ` --${name} ${quoted(project?.[name] ?? '')}`)
    .join('');
  return `KEY=$(holdpoint keys create --role agent --user my-agent${at})

SES=$(curl -s ${origin}/v1/sessions \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"agent": "my-agent"}' | grep -o 'ses_[0-9a-f-]*' | head -1)

curl -s ${origin}/v1/sessions/$SES/actions \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"call_id": "1", "tool": "execute_command",
       "arguments": {"command": "git push"}}'`;
}
