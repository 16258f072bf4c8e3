import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { taken as agreed, api, attemptKey } from '@/api/client';
import { asProblem } from '@/api/problem';
import type { AnswerBody, Interaction } from '@/api/types';

/**
 * Sends an answer. Nothing changes on the page before the server has agreed; a reply that was lost is asked for again
 * under the same key, so that one answer is one answer.
 */
export function useAnswer(question: Interaction, taken: () => void) {
  const cache = useQueryClient();
  const [attempt, setAttempt] = useState({ said: '', key: '' });
  const send = useMutation({
    gcTime: 0,
    mutationFn: ({ body, key }: { body: AnswerBody; key: string }) =>
      agreed(
        api.POST('/v1/interactions/{interaction}/answer', {
          params: { path: { interaction: question.id }, header: { 'Idempotency-Key': key } },
          body,
        }),
      ),
    retry: (failures, error) => asProblem(error).passing && failures < 4,
    retryDelay: (failures) => 400 * 2 ** failures,
    onSuccess: (answered) => {
      taken();
      cache.setQueryData(['interaction', question.id], answered);
    },
    onSettled: () => {
      void cache.invalidateQueries({ queryKey: ['interaction', question.id] });
      void cache.invalidateQueries({ queryKey: ['interactions'] });
      void cache.invalidateQueries({ queryKey: ['stats'] });
    },
  });
  return {
    send: (body: AnswerBody) => {
      // The same words again are the same attempt; other words are another one. Secrets are compared by nobody.
      const said = question.secrets?.length ? attemptKey() : JSON.stringify(body);
      const key = attempt.said === said ? attempt.key : attemptKey();
      setAttempt({ said, key });
      send.mutate({ body, key });
    },
    sending: send.isPending,
    error: send.error,
    forget: send.reset,
  };
}
