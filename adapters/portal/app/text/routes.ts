/** The addresses of the screens: everything after `#`, so that the page works under every prefix. Pure. */

export interface Route {
  readonly screen:
    | 'webhooks'
    | 'webhook'
    | 'new'
    | 'delivery'
    | 'call'
    | 'live'
    | 'match'
    | 'search'
    | 'operator'
    | 'unknown'
  /** The account whose data is shown; absent: the account of the session. */
  readonly accountId?: string
  /** Id of the webhook, delivery or call. */
  readonly id?: string
  readonly tab?: string
  readonly query: Readonly<Record<string, string>>
}

const PLURAL = { webhook: 'webhooks', delivery: 'deliveries', call: 'calls' } as const

export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split('?', 2)
  const query = Object.fromEntries(new URLSearchParams(search))
  let segments: string[]
  try {
    segments = path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent)
  } catch {
    return { screen: 'unknown', query }
  }
  const [accountId, kind, id, tab, ...rest] = segments
  if (accountId === undefined) return { screen: 'webhooks', query }
  if (rest.length > 0) return { screen: 'unknown', query }
  if (accountId === 'operator' && kind === undefined) return { screen: 'operator', query }
  switch (kind) {
    case undefined:
      return { screen: 'webhooks', accountId, query }
    case 'webhooks':
      if (id === undefined) return { screen: 'webhooks', accountId, query }
      if (id === 'new' && tab === undefined) return { screen: 'new', accountId, query }
      return { screen: 'webhook', accountId, id, ...(tab === undefined ? {} : { tab }), query }
    case 'deliveries':
    case 'calls':
      if (id === undefined || tab !== undefined) return { screen: 'unknown', query }
      return { screen: kind === 'calls' ? 'call' : 'delivery', accountId, id, query }
    case 'live':
    case 'match':
    case 'search':
      return id === undefined ? { screen: kind, accountId, query } : { screen: 'unknown', query }
    default:
      return { screen: 'unknown', query }
  }
}

type RouteInput = Omit<Route, 'query'> & { readonly query?: Readonly<Record<string, string>> }

export function formatRoute({ screen, accountId, id, tab, query = {} }: RouteInput): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString()
  const kind = screen in PLURAL ? PLURAL[screen as keyof typeof PLURAL] : screen
  // Without an account there is only the list of the session's own account.
  const segments =
    screen !== 'operator' && accountId === undefined
      ? []
      : screen === 'operator'
        ? ['operator']
        : screen === 'new'
          ? [accountId, 'webhooks', 'new']
          : [accountId, kind, id, tab]
  const path = segments.filter((segment) => segment !== undefined).map(encodeURIComponent)
  return `#/${path.join('/')}${search === '' ? '' : `?${search}`}`
}
