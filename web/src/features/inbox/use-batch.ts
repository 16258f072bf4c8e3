import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api, attemptKey, responseBody } from '@/api/client';
import { asProblem } from '@/api/problem';
import type { BatchAnswer, BatchResult } from '@/api/types';
import { writeJson } from '@/lib/exact';
import { slices } from './slices';

/** Maximum number of answers in one request. */
const MOST = 100;

/**
 * Sends answers in batches of the largest size that the server accepts, one after the other. After a failed batch, only
 * answers without a result are sent again; an unchanged batch keeps its idempotency key.
 */
export function useBatch() {
  const cache = useQueryClient();
  const keys = useRef(new Map<string, string>());
  const [results, setResults] = useState<ReadonlyMap<string, BatchResult>>(new Map());
  const known = useRef(results);
  const lot = async (answers: BatchAnswer[]) => {
    const said = writeJson(answers);
    const key = keys.current.get(said) ?? attemptKey();
    keys.current.set(said, key);
    const header = { 'Idempotency-Key': key };
    const reply = await responseBody(api.POST('/v1/interactions/answers', { params: { header }, body: { answers } }));
    for (const { interaction, result } of reply.results)
      if (result) cache.setQueryData(['interaction', interaction], result);
    known.current = new Map([...known.current, ...reply.results.map((one) => [one.interaction, one] as const)]);
    setResults(known.current);
  };
  const { mutate, isPending, error } = useMutation({
    mutationFn: async (answers: BatchAnswer[]) => {
      const left = answers.filter(({ interaction }) => !known.current.has(interaction));
      for (const some of slices(left, MOST)) await lot(some);
    },
    retry: (failures, error) => asProblem(error).passing && failures < 3,
    onSettled: () => cache.invalidateQueries({ queryKey: ['interactions'] }),
  });
  return { send: mutate, sending: isPending, error, results };
}
