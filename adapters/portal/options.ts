/** The options of the page, checked. Pure. */
import { HookswitchError } from 'hookswitch'
import { closestName } from 'hookswitch/adapter'
import type { SessionReader } from './session.js'

/** Options of `portal`. */
export interface PortalOptions {
  /** Path of the page below the mount point of the service, without trailing slash. Default `/portal`. */
  readonly path?: string
  /** URL of the API, without `/v1`: relative to the page's address, or absolute for another host. Default `../`. */
  readonly api?: string
  /** Origins whose pages may show this one in a frame: `https://app.example.com`. Default: none. */
  readonly frameAncestors?: readonly string[]
  /** Finds the token of a user of the host. Default: the page has a login of its own. */
  readonly session?: SessionReader
}

/** Options with their defaults. */
export interface PortalSettings {
  readonly path: string
  readonly api: string
  readonly frameAncestors: readonly string[]
  readonly session: SessionReader | undefined
}

const DEFAULTS = Object.freeze({ path: '/portal', api: '../', frameAncestors: Object.freeze([]) })
const NAMES = ['path', 'api', 'frameAncestors', 'session'] as const

/** Nothing that a policy or a header could be ended with. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@;,'"A-Z]+$/

/** @throws HookswitchError `InvalidOption` naming the option */
export function checkPortalOptions(options: PortalOptions): PortalSettings {
  if (typeof options !== 'object' || options === null) throw invalid('options', 'must be an object')
  for (const name of Object.keys(options)) {
    if ((NAMES as readonly string[]).includes(name)) continue
    const closest = closestName(name, NAMES)
    throw invalid(name, `is unknown${closest === undefined ? '' : ` (did you mean '${closest}'?)`}`)
  }
  const { path = DEFAULTS.path, api = DEFAULTS.api, session } = options
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
  return { path, api, frameAncestors: [...frameAncestors], session }
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
