import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readJson, writeJson } from '@/lib/exact';
import SchemaForm from '.';

let root: Root;
let box: HTMLElement;
let sent: string[];

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  sent = [];
  box = document.body.appendChild(document.createElement('div'));
  root = createRoot(box);
});
afterEach(() => {
  act(() => root.unmount());
  box.remove();
});

const draw = (schema: string, value?: string) =>
  act(() =>
    root.render(
      <SchemaForm
        id="f"
        schema={readJson(schema) as never}
        value={value === undefined ? undefined : readJson(value)}
        onChange={() => undefined}
        onSubmit={(data) => sent.push(writeJson(data))}
      />,
    ),
  );
const submit = () => act(() => box.querySelector('form')?.requestSubmit());
const text = () => box.querySelector('textarea')?.value;

const type = (next: string) =>
  act(() => {
    const area = box.querySelector('textarea');
    if (!area) throw new Error('no field');
    area.focus();
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')?.set?.call(area, next);
    area.dispatchEvent(new Event('input', { bubbles: true }));
  });
const leave = () => act(() => box.querySelector('textarea')?.blur());
const said = (field: string) => [...box.querySelectorAll(`[data-field="${field}"] > [role="alert"]`)].map(textOf);
const listed = () => [...box.querySelectorAll('form > [role="alert"] li')].map(textOf);
const textOf = (one: Element) => one.textContent;

const MAP = `{"type":"object","properties":{
  "map":{"type":"object","additionalProperties":{"type":"integer"},"default":{"k":9007199254740993}}}}`;
const FREE = '{"type":"object","properties":{"m":{"type":"object"}}}';

test.each([
  ['a free object', MAP, '{"map":{"k":9007199254740993}}'],
  ['anything at all', '{"title":"Any","default":{"z":9007199254740993,"y":1.0}}', '{"z":9007199254740993,"y":1.0}'],
  [
    'anything at all, as a field',
    '{"type":"object","properties":{"a":{"title":"Any","default":{"z":[9007199254740993,1.0]}}}}',
    '{"a":{"z":[9007199254740993,1.0]}}',
  ],
  ['a number alone', '{"type":"object","properties":{"a":{"default":9007199254740993}}}', '{"a":9007199254740993}'],
  [
    'what is referred to',
    '{"type":"object","properties":{"a":{"$ref":"#/$defs/any"}},"$defs":{"any":{"default":{"k":9007199254740993}}}}',
    '{"a":{"k":9007199254740993}}',
  ],
])('every digit of a default written as JSON is shown and sent: %s', (_, schema, expected) => {
  draw(schema);
  expect(text()).toContain('9007199254740993');
  submit();
  expect(sent).toEqual([expected]);
});

test('a suggestion that is applied later is shown as it is sent', () => {
  draw(FREE);
  expect(text()).toBe('');
  draw(FREE, '{"m":{"q":9007199254740995}}');
  expect(text()).toBe('{\n  "q": 9007199254740995\n}');
  submit();
  expect(sent).toEqual(['{"m":{"q":9007199254740995}}']);
});

test('JSON input is sent with every digit and keeps its spelling', () => {
  draw(FREE);
  type('{"q": [18446744073709551615, 1.0]}');
  leave();
  expect(text()).toBe('{"q": [18446744073709551615, 1.0]}');
  submit();
  expect(sent).toEqual(['{"m":{"q":[18446744073709551615,1.0]}}']);
});

test.each([
  ['without a type', ''],
  ['of an object', '"type":"object",'],
])('the parts of allOf are drawn as the fields of one form: %s', (_, type) => {
  draw(`{${type}"$defs":{"b":{"properties":{"size":{"type":"integer","default":3}}}},
    "allOf":[{"properties":{"city":{"type":"string","default":"Ulm"}},"required":["city"]},{"$ref":"#/$defs/b"}]}`);
  expect(box.querySelector('textarea')).toBeNull();
  expect([...box.querySelectorAll('input')].map((one) => one.value)).toEqual(['Ulm', '3']);
  expect(box.querySelectorAll('button')).toHaveLength(0);
  submit();
  expect(sent).toEqual(['{"city":"Ulm","size":3}']);
});

test('unfinished JSON stays in its field', () => {
  draw(FREE);
  type('{"q": ');
  leave();
  expect(text()).toBe('{"q": ');
});

test('an error inside JSON is shown at its field', () => {
  draw(MAP);
  type('{"k": "x"}');
  submit();
  expect(sent).toEqual([]);
  expect(said('f_map')).toEqual([expect.stringContaining('k: ')]);
  expect(listed()).toEqual([]);
});

test('an error without a field is shown below the form until the next change', () => {
  draw(FREE, '{"extra":[9007199254740993]}');
  submit();
  expect(sent).toEqual([]);
  expect(listed()).toEqual([expect.stringContaining('extra › 0: ')]);
  type('{}');
  expect(listed()).toEqual([]);
});

test('the default in a branch of a condition keeps every digit', () => {
  const branch = (n: string) => `{"properties":{"id":{"type":"integer","default":${n}}}}`;
  const schema = `{"type":"object","properties":{"on":{"type":"boolean","default":true}},
    "if":{"properties":{"on":{"const":true}}},"then":${branch('9007199254740993')},"else":${branch('9007199254740995')}}`;
  draw(schema);
  submit();
  draw(schema, '{"on":false,"id":9007199254740997}');
  submit();
  expect(sent).toEqual(['{"on":true,"id":9007199254740993}', '{"on":false,"id":9007199254740997}']);
});

const KINDS = `{"type":"object","properties":{"kind":{"type":"string"}},
  "oneOf":[{"properties":{"kind":{"const":"a"},"m":{"type":"object"}},"required":["kind"]}]}`;

test.each([
  ['beside other fields', KINDS, '{"kind":"a","m":{"k":9007199254740993}}'],
  [
    'for a value of its own',
    '{"type":"object","properties":{"v":{"oneOf":[{"type":"string"},{"type":"object","title":"Free"}]}}}',
    '{"v":{"k":[9007199254740993]}}',
  ],
  [
    'under a condition',
    `{"type":"object","properties":{"on":{"type":"boolean"}},
      "if":{"properties":{"on":{"const":true}}},"then":{"properties":{"m":{"type":"object"}}}}`,
    '{"on":true,"m":{"k":9007199254740993}}',
  ],
  ['besides', '{"type":"object","allOf":[{"properties":{"m":{"type":"object"}}}]}', '{"m":{"k":9007199254740993}}'],
  [
    'with another field',
    `{"type":"object","properties":{"on":{"type":"string"}},
      "dependentSchemas":{"on":{"properties":{"m":{"type":"object"}}}}}`,
    '{"on":"x","m":{"k":9007199254740993}}',
  ],
  [
    'of a list',
    '{"type":"object","properties":{"l":{"type":"array","items":{"anyOf":[{"type":"number"},{"type":"object"}]}}}}',
    '{"l":[{"k":9007199254740993}]}',
  ],
])('a free object in an alternative is written as JSON: %s', (_, schema, value) => {
  draw(schema, value);
  expect(text()).toContain('9007199254740993');
  submit();
  expect(listed()).toEqual([]);
  expect(sent).toEqual([value]);
});

test('an anyOf that only requires other fields is not drawn as a field', () => {
  draw(
    '{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}',
    '{"a":"x"}',
  );
  expect(box.querySelectorAll('textarea').length).toBe(0);
  submit();
  expect(sent).toEqual(['{"a":"x"}']);
});

test('the default of the whole schema fills its free objects', () => {
  draw(
    '{"type":"object","default":{"m":{"k":9007199254740993},"n":1},"properties":{"m":{"type":"object"},"n":{"type":"integer"}}}',
  );
  expect(text()).toContain('9007199254740993');
  submit();
  expect(sent).toEqual(['{"m":{"k":9007199254740993},"n":1}']);
});

test('a schema that refers to itself many times over is drawn', () => {
  const again = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `"${name}":{"$ref":"#/$defs/node"}`).join();
  draw(`{"type":"object","$defs":{"node":{"type":"object","properties":{"n":{"type":"string"},${again}}}},
    "properties":{"one":{"type":"string","default":"x"},"two":{"oneOf":[{"type":"string"},{"$ref":"#/$defs/node"}]}}}`);
  submit();
  expect(sent).toEqual(['{"one":"x"}']);
});

test('a definition shared by fields and JSON accepts numbers in both', () => {
  draw(`{"type":"object","$defs":{"id":{"type":"integer","maximum":9007199254740995}},"properties":{
    "one":{"$ref":"#/$defs/id"},"m":{"type":"object","additionalProperties":{"$ref":"#/$defs/id"},"default":{"k":5}}}}`);
  submit();
  expect(sent).toEqual(['{"m":{"k":5}}']);
});

test('a recursive definition is checked inside JSON', () => {
  const node = '{"type":"object","properties":{"id":{"type":"integer"},"next":{"$ref":"#/$defs/node"}}}';
  draw(`{"type":"object","$defs":{"node":${node},"any":{"type":"object","additionalProperties":{"$ref":"#/$defs/node"}}},
    "properties":{"big":{"type":"integer","default":9007199254740993},"m":{"$ref":"#/$defs/any"}}}`);
  type('{"a":{"id":9007199254740995,"next":{"id":"x"}}}');
  submit();
  expect(said('f_m')).toEqual([expect.stringContaining('a › next › id: ')]);
  type('{"a":{"id":9007199254740995,"next":{"id":2}}}');
  submit();
  expect(sent).toEqual(['{"big":9007199254740993,"m":{"a":{"id":9007199254740995,"next":{"id":2}}}}']);
});

test.each([
  ['by an anchor', '{"$ref":"#node"}', '"$defs":{"n":{"$anchor":"node","type":"integer"}}'],
  ['round in a circle', '{"$ref":"#/$defs/a"}', '"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}'],
  ['to the whole', '{"$ref":"#"}', '"additionalProperties":{"type":"integer"}'],
  ['twice', '{"$ref":"#/$defs/a"}', '"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"object"}}'],
])('a part that refers %s is written as JSON', (_, part, rest) => {
  draw(`{"type":"object","properties":{"n":${part}},${rest}}`);
  expect(box.querySelector('#f_n')?.tagName).toBe('TEXTAREA');
});

test.each(['{}', 'true', '{"type":"array","items":{}}', '{"oneOf":[{},{"type":"string"}]}'])(
  '%s accepts any JSON',
  (part) => {
    draw(`{"type":"object","properties":{"n":${part}}}`, '{"n":[1]}');
    expect(text()).toContain('1');
    submit();
    expect(sent).toEqual(['{"n":[1]}']);
  },
);

test('a definition with special characters in its name is found', () => {
  draw('{"type":"object","$defs":{"a/b c":{"type":"boolean"}},"properties":{"n":{"$ref":"#/$defs/a~1b%20c"}}}');
  expect(box.querySelector('#f_n')?.getAttribute('role')).toBe('switch');
});

test('a constant is drawn as one option and is not preselected', () => {
  draw('{"type":"object","required":["n"],"properties":{"n":{"const":"x"}}}');
  submit();
  expect(sent).toEqual([]);
  act(() => box.querySelector<HTMLInputElement>('input[type="radio"]')?.click());
  submit();
  expect(sent).toEqual(['{"n":"x"}']);
});

test('additional properties can be added, named and removed', () => {
  draw(
    '{"type":"object","description":"All of it","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"object"}}',
  );
  expect(box.textContent).toContain('All of it');
  act(() => box.querySelector('button')?.click());
  const name = box.querySelector<HTMLInputElement>('input[id$="-key"]');
  if (!name) throw new Error('no name');
  act(() => {
    name.focus();
    name.value = 'own';
    name.blur();
  });
  type('{"k":1}');
  submit();
  expect(sent).toEqual(['{"own":{"k":1}}']);
  act(() => box.querySelector('button')?.click());
  submit();
  expect(sent.at(-1)).toBe('{}');
});
