import { type Method, ROUTES, type Route } from './route.js'

/** The names of parameters in this package's spelling. */
export type ParamName = 'accountId' | 'webhookId' | 'deliveryId' | 'callId' | 'sampleId'

/** The methods of a path that exists, and what its parameters are, decoded once. */
export interface Match {
  readonly routes: Readonly<Partial<Record<Method, Route>>>
  readonly params: Readonly<Partial<Record<ParamName, string>>>
}

/** Where a request goes: the version it speaks and the segments below, as sent. */
export interface Target {
  readonly version: 'v1' | 'v2'
  readonly segments: readonly string[]
}

interface Branch {
  readonly literals: Map<string, Branch>
  param?: { readonly name: ParamName; readonly branch: Branch }
  routes?: Partial<Record<Method, Route>>
}

/** A call id may be any text, `%41` included; in an id it can only be something that was encoded twice. */
const FREE_TEXT = 'callId'
const STILL_ENCODED = /%[0-9A-Fa-f]{2}/

const sprout = (): Branch => ({ literals: new Map() })

/** `{webhook_id}` → `webhookId` */
const paramName = (part: string) => part.slice(1, -1).replace('_id', 'Id') as ParamName

function growTree(routes: readonly Route[]): Branch {
  const root = sprout()
  for (const route of routes) {
    let branch = root
    for (const part of route.path.slice(1).split('/')) {
      if (part.startsWith('{')) {
        branch.param ??= { name: paramName(part), branch: sprout() }
        branch = branch.param.branch
      } else {
        const next = branch.literals.get(part) ?? sprout()
        branch.literals.set(part, next)
        branch = next
      }
    }
    branch.routes = { ...branch.routes, [route.method]: route }
  }
  return root
}

const TREE = growTree(ROUTES)

/**
 * Splits a request target's path as it was sent: nothing is normalised, a trailing slash is ignored, an empty
 * segment anywhere else is no path of ours. An absolute target (`http://host/v1/…`) is read as its path, as
 * RFC 9112, section 3.2.2 demands.
 *
 * @param url path and query, or the whole target as it stands in the request line
 */
export function splitTarget(url: string): Target | undefined {
  const query = url.indexOf('?')
  let path = query < 0 ? url : url.slice(0, query)
  if (path.charCodeAt(0) !== 47) {
    const absolute = /^https?:\/\/[^/]+(\/.*)$/i.exec(path)
    if (!absolute) return undefined
    path = absolute[1]!
  }
  const version = path.startsWith('/v1/') ? 'v1' : path.startsWith('/v2/') ? 'v2' : undefined
  if (version === undefined) return undefined
  const end = path.endsWith('/') ? path.length - 1 : path.length
  return { version, segments: path.slice(4, end).split('/') }
}

/** A segment decoded once; `undefined` where it is no name of anything: empty, a dot segment, broken encoding. */
function decode(segment: string): string | undefined {
  if (segment === '') return undefined
  let text = segment
  if (segment.includes('%')) {
    try {
      text = decodeURIComponent(segment)
    } catch {
      return undefined
    }
  }
  return text === '.' || text === '..' ? undefined : text
}

/** Finds a path in the table; a literal wins over a parameter (`webhooks/attempts`). `undefined`: no such path. */
export function matchPath(segments: readonly string[]): Match | undefined {
  const params: Partial<Record<ParamName, string>> = {}
  let branch = TREE
  for (const segment of segments) {
    const text = decode(segment)
    if (text === undefined) return undefined
    const literal = branch.literals.get(text)
    if (literal) {
      branch = literal
      continue
    }
    const { param } = branch
    if (!param || (param.name !== FREE_TEXT && STILL_ENCODED.test(text))) return undefined
    params[param.name] = text
    branch = param.branch
  }
  return branch.routes && { routes: branch.routes, params }
}
