import { englishStringTranslator, TranslatableString as FormText } from '@rjsf/utils';
import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Words } from './validator';

const NAMES = {
  [FormText.OptionPrefix]: 'option',
  [FormText.TitleOptionPrefix]: 'titled',
  [FormText.YesLabel]: 'yes',
  [FormText.NoLabel]: 'no',
  [FormText.AddButton]: 'add',
  [FormText.RemoveButton]: 'remove',
  [FormText.ClearLabel]: 'clear',
  [FormText.ClearButton]: 'clear',
  [FormText.NewStringDefault]: 'value',
  [FormText.KeyLabel]: 'key',
  [FormText.DeprecatedLabel]: 'deprecated',
  [FormText.FilesInfo]: 'file',
  [FormText.PreviewLabel]: 'preview',
} as const;

/** Texts of the forms library in the reader's language. */
export function useFormTexts(): typeof englishStringTranslator {
  const { t } = useTranslation();
  return useMemo(() => (text, params) => translated(t, text, params), [t]);
}

function translated(t: TFunction, text: FormText, params: string[] = []): string {
  const name = NAMES[text as keyof typeof NAMES];
  const [one, two, three] = params;
  return name ? t(`form.words.${name}`, { one, two, three }) : englishStringTranslator(text, params);
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
