import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, attemptKey, responseBody } from '@/api/client';
import { asProblem } from '@/api/problem';
import type { AnswerBody, Interaction } from '@/api/types';

/**
 * Sends an answer. The page shows the answer only after the server has accepted it. If a reply is lost, the request is
 * sent again under its idempotency key, so that one answer counts once.
 */
export function useAnswer(question: Interaction, onAccepted: () => void) {
  const cache = useQueryClient();
  const [attempt, setAttempt] = useState({ said: '', key: '' });
  const send = useMutation({
    gcTime: 0,
    mutationFn: ({ body, key }: { body: AnswerBody; key: string }) =>
      responseBody(
        api.POST('/v1/interactions/{interaction}/answer', {
          params: { path: { interaction: question.id }, header: { 'Idempotency-Key': key } },
          body,
        }),
      ),
    retry: (failures, error) => asProblem(error).passing && failures < 4,
    retryDelay: (failures) => 400 * 2 ** failures,
    onSuccess: (answered) => {
      onAccepted();
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
      // An unchanged body keeps its idempotency key. Answers with secrets always get a new one, so that no secret is
      // kept for comparison.
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
