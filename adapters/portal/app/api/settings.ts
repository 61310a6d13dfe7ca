/** What the service tells the page about its surroundings, in `<meta>` elements. */

const meta = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="hookswitch-${name}"]`)?.content ?? ''

/** URL of the API without version, absolute. */
export const API_URL: string = new URL(meta('api') || '../', location.href.replace(/[?#].*$/s, '')).href

/** The host has a login of its own; the page has none then. */
export const HAS_HOST_LOGIN: boolean = meta('session') === 'host'
