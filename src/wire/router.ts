/** Matches request paths to routes. */
import { type Method, NOT_IMPLEMENTED, ROUTES, type Route } from './routes.js'

/** Path parameters, in camelCase. */
type ParameterName =
  | 'accountId'
  | 'userId'
  | 'webhookId'
  | 'deliveryId'
  | 'replayId'
  | 'jobId'
  | 'callId'
  | 'sampleId'

/** The methods of an existing path, and its parameters, decoded once. */
export interface RouteMatch {
  readonly routes: Readonly<Partial<Record<Method, Route>>>
  readonly params: Readonly<Partial<Record<ParameterName, string>>>
}

/** Version and path segments of a request target, not decoded. */
interface Target {
  readonly version: 'v1' | 'v2'
  readonly segments: readonly string[]
}

interface RouteNode {
  readonly literals: Map<string, RouteNode>
  param?: { readonly name: ParameterName; readonly node: RouteNode }
  routes?: Partial<Record<Method, Route>>
}

/** A call id may contain any text, even `%41`; in every other parameter that is a sign of double encoding. */
const FREE_TEXT_PARAMETER = 'callId'
const STILL_ENCODED = /%[0-9A-Fa-f]{2}/

const createNode = (): RouteNode => ({ literals: new Map() })

/** `{webhook_id}` → `webhookId` */
const paramName = (part: string) => part.slice(1, -1).replace('_id', 'Id') as ParameterName

function buildTree(routes: readonly Route[]): RouteNode {
  const root = createNode()
  for (const route of routes) {
    let node = root
    for (const part of route.path.slice(1).split('/')) {
      if (part.startsWith('{')) {
        node.param ??= { name: paramName(part), node: createNode() }
        node = node.param.node
      } else {
        const next = node.literals.get(part) ?? createNode()
        node.literals.set(part, next)
        node = next
      }
    }
    node.routes = { ...node.routes, [route.method]: route }
  }
  return root
}

const ROUTE_TREE = buildTree([...ROUTES, ...NOT_IMPLEMENTED])

/**
 * Splits the path of a request target without normalizing it. Ignores a trailing slash; an empty segment anywhere else
 * matches no route. Accepts the absolute form (`http://host/v1/…`; RFC 9112, section 3.2.2).
 *
 * @param url path and query, or the whole request target
 */
export function parseTarget(url: string): Target | undefined {
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

/** Decodes a segment once. Returns `undefined` if it is empty, a dot segment or malformed. */
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

/**
 * Finds the routes of a path; a literal takes precedence over a parameter (`webhooks/attempts`). Returns `undefined` for
 * an unknown path.
 */
export function matchRoute(segments: readonly string[]): RouteMatch | undefined {
  const params: Partial<Record<ParameterName, string>> = {}
  let node = ROUTE_TREE
  for (const segment of segments) {
    const text = decode(segment)
    if (text === undefined) return undefined
    const literal = node.literals.get(text)
    if (literal) {
      node = literal
      continue
    }
    const { param } = node
    if (!param || (param.name !== FREE_TEXT_PARAMETER && STILL_ENCODED.test(text))) return undefined
    params[param.name] = text
    node = param.node
  }
  return node.routes && { routes: node.routes, params }
}
