/** What the user prefers, remembered by the browser: theme, zone, language, shortcuts. Otherwise the host's choice counts. */
import { effect, type Signal, signal } from '@preact/signals'
import { SETTINGS } from '../api/settings.js'
import type { Zone } from '../text/times.js'

type Theme = 'auto' | 'light' | 'dark'
const THEMES = ['auto', 'light', 'dark'] as const
export const LANGUAGES = ['en', 'de'] as const
/** The languages in themselves. */
export const LANGUAGE_NAMES = { en: 'English', de: 'Deutsch' } as const
export type Language = (typeof LANGUAGES)[number]

function preference<Value extends string>(
  name: string,
  values: readonly Value[],
  initial: Value,
): Signal<Value> {
  const key = `hookswitch-portal-${name}`
  const stored = values.find((value) => value === read(key))
  const preferred = signal(stored ?? initial)
  let isChosen = stored !== undefined
  effect(() => {
    const { value } = preferred
    // What nobody has chosen follows the host and the browser at the next visit too.
    isChosen ||= value !== initial
    if (isChosen) write(key, value)
  })
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
const hostLanguage = LANGUAGES.find((language) => language === SETTINGS.language)
const hostTheme = THEMES.find((name) => name === SETTINGS.colorScheme)

export const theme = preference<Theme>('theme', THEMES, hostTheme ?? 'auto')
export const zone = preference<Zone>('zone', ['local', 'utc'], 'local')
export const language = preference<Language>('language', LANGUAGES, hostLanguage ?? browserLanguage ?? 'en')
export const shortcuts = preference<'on' | 'off'>('shortcuts', ['on', 'off'], 'on')

effect(() => {
  document.documentElement.dataset.theme = theme.value
})
