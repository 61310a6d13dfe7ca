/** The options of the page, checked. Pure. */
import { HookswitchError } from 'hookswitch'
import { checkOptionNames, printableLine } from 'hookswitch/adapter'
import { DEFAULT_ACCENT } from './brand.js'
import type { SessionReader } from './session.js'

/** Options of `portal`. */
export interface PortalOptions {
  /** Path of the page below the mount point of the service, without trailing slash. Default `/portal`. */
  readonly path?: string | undefined
  /** URL of the API, without `/v1`: relative to the page's address, or absolute for another host. Default `../`. */
  readonly api?: string | undefined
  /** Origins whose pages may show this one in a frame: `https://app.example.com`. Default: none. */
  readonly frameAncestors?: readonly string[] | undefined
  /** Finds the token of a user of the host. Default: the page has a login of its own. */
  readonly session?: SessionReader | undefined
  /** Name of the page for its users, 1 to 60 characters. Default `Webhooks`. */
  readonly title?: string | undefined
  /** Your logo: path of an SVG or PNG file, read once, or its bytes; at most 64 KiB. Default: none. */
  readonly logo?: string | Uint8Array | undefined
  /**
   * Your colour for buttons and links, as `#rgb` or `#rrggbb`. Its lightness is changed where text would not be readable.
   * Default `#4a3fc7`.
   */
  readonly accent?: string | undefined
  /** Language of users who have chosen none. Default `auto`: that of their browser. */
  readonly language?: 'auto' | 'en' | 'de' | undefined
  /** URL of your own help, http or https. Default: none. */
  readonly helpUrl?: string | undefined
  /** Colours for users who have chosen none. Default `auto`: those of their system. */
  readonly colorScheme?: 'auto' | 'light' | 'dark' | undefined
}

/** Options with their defaults. */
export interface PortalSettings {
  readonly path: string
  readonly api: string
  readonly frameAncestors: readonly string[]
  readonly session: SessionReader | undefined
  readonly title: string
  readonly logo: string | Uint8Array | undefined
  readonly accent: string
  readonly language: 'auto' | 'en' | 'de'
  readonly helpUrl: string | undefined
  readonly colorScheme: 'auto' | 'light' | 'dark'
}

const DEFAULTS = Object.freeze({
  path: '/portal',
  api: '../',
  frameAncestors: Object.freeze([]),
  title: 'Webhooks',
  accent: DEFAULT_ACCENT,
  language: 'auto',
  colorScheme: 'auto',
})
const NAMES: readonly string[] = [...Object.keys(DEFAULTS), 'session', 'logo', 'helpUrl']
const LANGUAGES: readonly unknown[] = ['auto', 'en', 'de']
const COLOR_SCHEMES: readonly unknown[] = ['auto', 'light', 'dark']
const MAX_TITLE_LENGTH = 60
const MAX_URL_LENGTH = 2_048

/** Nothing that a policy or a header could be ended with. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@;,'"A-Z]+$/

/** @throws HookswitchError `InvalidOption` naming the option */
export function checkPortalOptions(options: PortalOptions): PortalSettings {
  checkOptionNames('portal', options, NAMES)
  const { path = DEFAULTS.path, api = DEFAULTS.api, session, logo, helpUrl } = options
  const { frameAncestors = DEFAULTS.frameAncestors } = options
  if (typeof path !== 'string' || !/^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(path)) {
    throw invalid('path', 'must be a path like /portal')
  }
  if (/^\/v[12](\/|$)/.test(path)) throw invalid('path', 'must not be below /v1 or /v2, which are the API')
  if (typeof api !== 'string' || !isApiUrl(api)) {
    throw invalid('api', 'must be an http or https URL, or a relative one like ../')
  }
  if (!Array.isArray(frameAncestors) || !frameAncestors.every((origin) => ORIGIN.test(String(origin)))) {
    throw invalid('frameAncestors', 'must be a list of origins like https://app.example.com')
  }
  if (session !== undefined && typeof session !== 'function') throw invalid('session', 'must be a function')
  const { title = DEFAULTS.title, accent = DEFAULTS.accent } = options
  const { language = DEFAULTS.language, colorScheme = DEFAULTS.colorScheme } = options
  if (typeof title !== 'string' || title.trim() === '' || [...title].length > MAX_TITLE_LENGTH)
    throw invalid('title', `must be a text of 1 to ${MAX_TITLE_LENGTH} characters`)
  if (printableLine(title) !== title) throw invalid('title', 'must have no control or hidden characters')
  if (logo !== undefined && !(logo instanceof Uint8Array) && (typeof logo !== 'string' || logo === ''))
    throw invalid('logo', 'must be the path of an SVG or PNG file, or its bytes')
  if (typeof accent !== 'string' || !/^#(?:[\da-f]{3}|[\da-f]{6})$/i.test(accent))
    throw invalid('accent', 'must be a colour like #4a3fc7')
  if (!LANGUAGES.includes(language)) throw invalid('language', 'must be auto, en or de')
  if (helpUrl !== undefined && !isHelpUrl(helpUrl)) throw invalid('helpUrl', 'must be an http or https URL')
  if (!COLOR_SCHEMES.includes(colorScheme)) throw invalid('colorScheme', 'must be auto, light or dark')
  const own = { path, api, frameAncestors: [...frameAncestors], session }
  return { ...own, title, logo, accent, language, helpUrl, colorScheme }
}

function isHelpUrl(helpUrl: unknown): boolean {
  if (typeof helpUrl !== 'string' || helpUrl.length > MAX_URL_LENGTH) return false
  if (!/^https?:\/\//i.test(helpUrl) || printableLine(helpUrl) !== helpUrl) return false
  return URL.canParse(helpUrl)
}

function isApiUrl(api: string): boolean {
  let url: URL
  try {
    url = new URL(api, 'http://page.invalid/portal/')
  } catch {
    return false
  }
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
  return isWeb && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
}

function invalid(name: string, problem: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${name} ${problem}`, { field: name })
}
