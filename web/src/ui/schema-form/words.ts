import { englishStringTranslator, TranslatableString as Said } from '@rjsf/utils';
import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Words } from './validator';

const NAMES = {
  [Said.OptionPrefix]: 'option',
  [Said.TitleOptionPrefix]: 'titled',
  [Said.YesLabel]: 'yes',
  [Said.NoLabel]: 'no',
  [Said.AddButton]: 'add',
  [Said.RemoveButton]: 'remove',
  [Said.ClearLabel]: 'clear',
  [Said.ClearButton]: 'clear',
  [Said.NewStringDefault]: 'value',
  [Said.KeyLabel]: 'key',
  [Said.DeprecatedLabel]: 'deprecated',
  [Said.FilesInfo]: 'file',
  [Said.PreviewLabel]: 'preview',
} as const;

/** Texts of the forms library in the reader's language. */
export function useFormTexts(): typeof englishStringTranslator {
  const { t } = useTranslation();
  return useMemo(() => (said, params) => translated(t, said, params), [t]);
}

function translated(t: TFunction, said: Said, params: string[] = []): string {
  const name = NAMES[said as keyof typeof NAMES];
  const [one, two, three] = params;
  return name ? t(`form.words.${name}`, { one, two, three }) : englishStringTranslator(said, params);
}

/** Validation message of a field in the reader's language. */
export function useWords(): Words {
  const { t } = useTranslation();
  return useMemo(
    () => (keyword, limit) =>
      t(`form.wrong.${keyword}` as 'form.wrong.minLength', {
        defaultValue: t('form.wrong.other'),
        limit: typeof limit === 'object' ? '' : String(limit),
        count: Number(limit),
      }),
    [t],
  );
}
