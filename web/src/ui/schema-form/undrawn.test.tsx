import { act, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test, vi } from 'vitest';
import { writeJson } from '@/lib/exact';
import SchemaForm from '.';

vi.mock('@rjsf/core', async (original) => {
  const { default: Form, ...rest } = await original<{ default: (props: object) => ReactNode }>();
  return {
    ...rest,
    default: (props: { schema: { title?: string } }) => {
      if (props.schema.title === 'undrawable') throw new Error('cannot be drawn');
      return <Form {...props} />;
    },
  };
});

test('a form that cannot be drawn is written as JSON and still checked', () => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  const reported = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const box = document.body.appendChild(document.createElement('div'));
  const sent: string[] = [];
  const draw = (value: unknown) =>
    act(() =>
      createRoot(box).render(
        <SchemaForm
          id="f"
          schema={{ title: 'undrawable', type: 'object', properties: { n: { type: 'integer' } } }}
          value={value}
          onChange={() => undefined}
          onSubmit={(data) => sent.push(writeJson(data))}
        />,
      ),
    );
  const submit = () => act(() => box.querySelector('form')?.requestSubmit());
  draw({ n: 'x' });
  expect(reported).toHaveBeenCalled();
  expect(box.querySelector('textarea')?.value).toContain('"x"');
  submit();
  expect(sent).toEqual([]);
  expect(box.querySelector('[data-field="f"] > [role="alert"]')?.textContent).toContain('n: ');
});
