/** The reader's own way of writing dates and numbers, where they have one in this language. */
export function localeOf(language: string): string {
  return navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `4:05`, `1:04:05`, `2 d 3 h`: how long is left, at least nothing. */
export function countdown(milliseconds: number, units: { day: string; hour: string }): string {
  const left = Math.max(0, Math.ceil(milliseconds / SECOND) * SECOND);
  if (left >= DAY) return `${Math.floor(left / DAY)} ${units.day} ${Math.floor((left % DAY) / HOUR)} ${units.hour}`;
  const minutes = Math.floor((left % HOUR) / MINUTE);
  const seconds = String(Math.floor((left % MINUTE) / SECOND)).padStart(2, '0');
  if (left < HOUR) return `${minutes}:${seconds}`;
  return `${Math.floor(left / HOUR)}:${String(minutes).padStart(2, '0')}:${seconds}`;
}

/** How much time is left, in one word that the page can colour. */
export function urgency(left: number): 'calm' | 'soon' | 'last' | 'over' {
  if (left <= 0) return 'over';
  if (left <= MINUTE) return 'last';
  return left <= 10 * MINUTE ? 'soon' : 'calm';
}

/** "3 minutes ago", in the given language. */
export function ago(at: string, now: number, language: string): string {
  const passed = Math.max(0, now - Date.parse(at));
  const format = new Intl.RelativeTimeFormat(localeOf(language), { numeric: 'auto', style: 'short' });
  if (passed < MINUTE) return format.format(0, 'second');
  if (passed < HOUR) return format.format(-Math.floor(passed / MINUTE), 'minute');
  if (passed < DAY) return format.format(-Math.floor(passed / HOUR), 'hour');
  return format.format(-Math.floor(passed / DAY), 'day');
}

/** A moment in full, with its zone. */
export function moment(at: string, language: string): string {
  return new Intl.DateTimeFormat(localeOf(language), {
    dateStyle: 'medium',
    timeStyle: 'long',
  }).format(new Date(at));
}

/** A moment without its zone, for rows of a table. */
export function shortMoment(at: string, language: string): string {
  return new Intl.DateTimeFormat(localeOf(language), {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).format(new Date(at));
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** The largest unit that fits, with its length in seconds. */
function unitOf(seconds: number): (typeof UNITS)[number] {
  return UNITS.find(([, length]) => seconds >= length) ?? UNITS[3];
}

function inUnit(unit: string, language: string, digits: number): Intl.NumberFormat {
  return new Intl.NumberFormat(localeOf(language), {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: digits,
  });
}

/** "1.5 h": a length of time in the largest unit that fits; what is shorter than a second is just that. */
export function span(seconds: number, language: string): string {
  if (seconds < 1) return `< ${inUnit('second', language, 0).format(1)}`;
  const [unit, length] = unitOf(seconds);
  const value = seconds / length;
  return inUnit(unit, language, value < 10 ? 1 : 0).format(value);
}

/** "1–10 min": from one length of time to another, in the unit of the first. */
export function spanBetween(from: number, to: number, language: string): string {
  const [unit, length] = unitOf(from);
  return inUnit(unit, language, 0).formatRange(from / length, to / length);
}

/** The browser's date and time control has no offset: this puts that of the person's own zone behind it. */
export function withOffset(local: string): string {
  if (local === '') return local;
  const date = new Date(local);
  if (Number.isNaN(date.getTime())) return local;
  const minutes = -date.getTimezoneOffset();
  const sign = minutes < 0 ? '-' : '+';
  const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, '0');
  const seconds = /T\d\d:\d\d$/u.test(local) ? ':00' : '';
  return `${local}${seconds}${sign}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** The other way: a moment as the browser's control wants it, in the person's own zone. */
export function asLocal(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * MINUTE);
  return local.toISOString().slice(0, 16);
}
