import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { LockKeyhole } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import { secretsQuery } from '@/api/queries';
import { AgentLine } from '@/ui/agent-text';
import { Button } from '@/ui/button';
import { Card, Empty, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Ago } from '@/ui/time';

/** Saved secrets: names only, never values. */
export function KeptSecrets() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { data, error, refetch } = useQuery(secretsQuery());
  const forget = useMutation({
    mutationFn: (secret: string) => responseBody(api.DELETE('/v1/secrets/{secret}', { params: { path: { secret } } })),
    onSettled: () => void cache.invalidateQueries({ queryKey: ['secrets'] }),
  });
  if (error) return <ProblemNotice error={error} again={() => void refetch()} />;
  if (!data) return <Waiting label={t('common.loading')} />;
  if (data.length === 0) {
    return (
      <Empty icon={LockKeyhole} title={t('secrets.none')}>
        <p>{t('secrets.noneText')}</p>
      </Empty>
    );
  }
  return (
    <div className="space-y-4">
      <p className="text-muted">{t('secrets.about')}</p>
      <Card>
        <ul className="divide-y">
          {data.map((secret) => (
            <li key={secret.id} className="flex flex-wrap items-center gap-x-4 gap-y-1.5 px-4 py-3">
              <div className="min-w-0 flex-1 basis-60">
                <code className="font-medium">
                  <AgentLine text={secret.name} />
                </code>
                <div className="text-muted text-sm">
                  <AgentLine text={t('secrets.keptFor', { agent: secret.agent, name: secret.kept_by.name })} />{' '}
                  <Ago at={secret.kept_at} />
                </div>
              </div>
              <Button
                size="sm"
                tone="danger"
                aria-label={t('secrets.deleteOf', { name: secret.name })}
                busy={forget.isPending && forget.variables === secret.id}
                onClick={() => forget.mutate(secret.id)}
              >
                {t('secrets.delete')}
              </Button>
            </li>
          ))}
        </ul>
      </Card>
      {forget.error ? <ProblemNotice error={forget.error} /> : null}
    </div>
  );
}
