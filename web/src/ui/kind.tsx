import {
  CircleCheckBig,
  CircleHelp,
  ClipboardList,
  FileSearch,
  Info,
  KeySquare,
  ListChecks,
  type LucideIcon,
  ShieldQuestion,
  Sparkle,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';

const ICONS: Record<string, LucideIcon> = {
  approval: ShieldQuestion,
  confirmation: CircleCheckBig,
  choice: ListChecks,
  question: CircleHelp,
  form: ClipboardList,
  secret: KeySquare,
  review: FileSearch,
  notice: Info,
};

export const KINDS = [
  'approval',
  'confirmation',
  'choice',
  'question',
  'form',
  'secret',
  'review',
  'notice',
  'custom',
] as const;

export function KindIcon({ kind, className }: { kind: string; className?: string }) {
  const Icon = ICONS[kind] ?? Sparkle;
  return <Icon aria-hidden="true" className={className} strokeWidth={1.8} />;
}

export function useKindName(): (kind: string) => string {
  const { t } = useTranslation();
  return (kind) => t(`kinds.${kind}` as 'kinds.approval', { defaultValue: kind });
}
