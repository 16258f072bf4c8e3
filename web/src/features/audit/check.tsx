import { useMutation } from '@tanstack/react-query';
import { ShieldAlert, ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import { localeOf } from '@/lib/time';
import { checkTrail, linesOf, type Trail } from '@/model/trail';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Notice } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';

/** Web Crypto is available only in secure contexts. */
const CAN = window.isSecureContext && 'subtle' in crypto;

/** Verifies the whole audit trail in the browser: order, hashes and signatures. */
export function CheckTrail({ publicKey }: { publicKey: string }) {
  const { t } = useTranslation();
  const [count, setCount] = useState(0);
  const check = useMutation({
    mutationFn: async () => {
      setCount(0);
      const body = await responseBody(api.GET('/v1/audit/export', { parseAs: 'stream' }));
      return checkTrail(linesOf(texts(body as ReadableStream<Uint8Array<ArrayBuffer>>)), publicKey, setCount);
    },
  });
  if (!CAN) return <p className="text-muted text-sm">{t('audit.unsafe')}</p>;
  return (
    <div aria-live="polite" className="flex flex-wrap items-center gap-3">
      {check.data ? <Verdict trail={check.data} /> : null}
      <Button size="sm" busy={check.isPending} onClick={() => check.mutate()}>
        {check.isPending && count > 0 ? t('audit.checking', { count }) : t('audit.check')}
      </Button>
      {check.error ? <ProblemNotice error={check.error} /> : null}
    </div>
  );
}

function Verdict({ trail }: { trail: Trail }) {
  const { t, i18n } = useTranslation();
  if (!trail.whole) {
    return (
      <Notice tone="danger" icon={ShieldAlert} role="alert" title={t('audit.broken', { entry: trail.entry })}>
        {t('audit.brokenText')}
      </Notice>
    );
  }
  const shown = trail.entries.toLocaleString(localeOf(i18n.language));
  return (
    <Badge tone="good">
      <ShieldCheck aria-hidden="true" className="size-3.5" />
      {t('audit.whole', { count: trail.entries, shown })}
    </Badge>
  );
}

async function* texts(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncIterable<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
