import { useTranslation } from 'react-i18next';
import { localeOf } from '@/lib/time';
import { shareTone } from '@/model/series';

const FILLS = { plain: 'fill-line', good: 'fill-good', warn: 'fill-warn', danger: 'fill-danger' };
// A share of 25% fills the bar; larger shares need no scale.
const FULL = 0.25;

/** Share of expired questions, with marks at 5 and 20 per cent. */
export function ShareMeter({ share }: { share?: number }) {
  const { t, i18n } = useTranslation();
  const percent = new Intl.NumberFormat(localeOf(i18n.language), { style: 'percent' });
  const width = Math.min(100, ((share ?? 0) / FULL) * 100);
  return (
    <div>
      <svg
        role="img"
        aria-label={t('insights.marks')}
        viewBox="0 0 100 10"
        preserveAspectRatio="none"
        className="mt-1.5 h-2.5 w-full"
      >
        <rect y="2" width="100" height="6" className="fill-hover" />
        <rect y="2" width={width} height="6" className={FILLS[shareTone(share)]} />
        <rect x={(0.05 / FULL) * 100 - 0.4} width="0.8" height="10" className="fill-edge" />
        <rect x={(0.2 / FULL) * 100 - 0.4} width="0.8" height="10" className="fill-edge" />
      </svg>
      <div aria-hidden="true" className="relative h-4 text-xs">
        <span className="absolute left-[20%] -translate-x-1/2 whitespace-nowrap">{percent.format(0.05)}</span>
        <span className="absolute left-[80%] -translate-x-1/2 whitespace-nowrap">{percent.format(0.2)}</span>
      </div>
    </div>
  );
}
