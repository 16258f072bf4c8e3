import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Hand } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import { asProblem } from '@/api/problem';
import { meQuery } from '@/api/queries';
import type { Interaction } from '@/api/types';
import { Button } from '@/ui/button';
import { showToast } from '@/ui/show-toast';

/** Claims a question for a while, or releases it. */
export function ClaimButton({ question }: { question: Interaction }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { data: me } = useQuery(meQuery());
  const mine = question.claim?.by.name === me?.name;
  const change = useMutation({
    mutationFn: () => {
      const at = { params: { path: { interaction: question.id } }, body: {} };
      return responseBody(
        mine
          ? api.POST('/v1/interactions/{interaction}/release', at)
          : api.POST('/v1/interactions/{interaction}/claim', at),
      );
    },
    onSuccess: (changed) => cache.setQueryData(['interaction', question.id], changed),
    onError: (error) => {
      const { code, message } = asProblem(error);
      showToast(t(`problems.${code}` as 'problems.offline', { defaultValue: message }), 'danger');
    },
  });
  if (question.claim && !mine) return null;
  return (
    <Button tone="quiet" size="sm" busy={change.isPending} onClick={() => change.mutate()}>
      <Hand aria-hidden="true" />
      {mine ? t('claim.release') : t('claim.claim')}
    </Button>
  );
}
