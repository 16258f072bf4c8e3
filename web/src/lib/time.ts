/** The reader's own locale for dates and numbers, if it is in the language of the page. */
export function localeOf(language: string): string {
  return navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `4:05`, `1:04:05`, `2 d 3 h`: the remaining time, never negative. */
export function countdown(milliseconds: number, units: { day: string; hour: string }): string {
  const left = Math.max(0, Math.ceil(milliseconds / SECOND) * SECOND);
  if (left >= DAY) return `${Math.floor(left / DAY)} ${units.day} ${Math.floor((left % DAY) / HOUR)} ${units.hour}`;
  const minutes = Math.floor((left % HOUR) / MINUTE);
  const seconds = String(Math.floor((left % MINUTE) / SECOND)).padStart(2, '0');
  if (left < HOUR) return `${minutes}:${seconds}`;
  return `${Math.floor(left / HOUR)}:${String(minutes).padStart(2, '0')}:${seconds}`;
}

/** Urgency of the remaining time, which decides its colour. */
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

/** Date and time with the time zone. */
export function moment(at: string, language: string): string {
  return new Intl.DateTimeFormat(localeOf(language), {
    dateStyle: 'medium',
    timeStyle: 'long',
  }).format(new Date(at));
}

/** Date and time without the time zone, for rows of a table. */
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

/** "1.5 h": a duration in its largest unit; a duration below one second is shown as "< 1 s". */
export function span(seconds: number, language: string): string {
  if (seconds < 1) return `< ${inUnit('second', language, 0).format(1)}`;
  const [unit, length] = unitOf(seconds);
  const value = seconds / length;
  return inUnit(unit, language, value < 10 ? 1 : 0).format(value);
}

/** "1–10 min": a range of durations in the unit of the first one. */
export function spanBetween(from: number, to: number, language: string): string {
  const [unit, length] = unitOf(from);
  return inUnit(unit, language, 0).formatRange(from / length, to / length);
}

/** Adds the offset of the person's time zone to a value of the browser's date and time control. */
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

/** Converts a time to the format of the browser's date and time control, in the person's time zone. */
export function asLocal(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * MINUTE);
  return local.toISOString().slice(0, 16);
}
