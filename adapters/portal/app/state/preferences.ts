/** What the user prefers, remembered by the browser: theme, zone, language, shortcuts. */
import { effect, type Signal, signal } from '@preact/signals'
import type { Zone } from '../text/times.js'

type Theme = 'system' | 'light' | 'dark'
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

function preference<Value extends string>(
  name: string,
  values: readonly Value[],
  initial: Value,
): Signal<Value> {
  const key = `hookswitch-portal-${name}`
  const preferred = signal(values.find((value) => value === read(key)) ?? initial)
  effect(() => write(key, preferred.value))
  return preferred
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Storage is off: the choice holds until the page is closed.
  }
}

const browserLanguage = LANGUAGES.find((language) => navigator.language.toLowerCase().startsWith(language))

export const theme = preference<Theme>('theme', ['system', 'light', 'dark'], 'system')
export const zone = preference<Zone>('zone', ['utc', 'local'], 'utc')
export const language = preference<Language>('language', LANGUAGES, browserLanguage ?? 'en')
export const shortcuts = preference<'on' | 'off'>('shortcuts', ['on', 'off'], 'on')

effect(() => {
  document.documentElement.dataset.theme = theme.value
})
