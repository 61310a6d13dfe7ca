/** What the service tells the page about its surroundings, in `<meta>` elements. */

const meta = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="hookswitch-${name}"]`)?.content ?? ''

function choice<const Values extends readonly string[]>(name: string, values: Values): Values[number] {
  const value = meta(name)
  return values.find((known) => known === value) ?? values[0]!
}

/** URL of the API without version, absolute. */
export const API_URL: string = new URL(meta('api') || '../', location.href.replace(/[?#].*$/s, '')).href

/** The host has a login of its own; the page has none then. */
export const HAS_HOST_LOGIN: boolean = meta('session') === 'host'

/** The host's brand and preferences. */
export const SETTINGS = {
  /** Name of the page. */
  title: meta('title') || 'Webhooks',
  /** URL of the logo, relative to the page; `undefined`: there is none. */
  logoUrl: meta('logo') || undefined,
  /** Language of users who have chosen none; `auto`: that of their browser. */
  language: choice('language', ['auto', 'en', 'de']),
  /** The host's own help; `undefined`: there is none. */
  helpUrl: meta('help-url') || undefined,
  /** Colours for users who have chosen none; `auto`: those of their system. */
  colorScheme: choice('color-scheme', ['auto', 'light', 'dark']),
}
