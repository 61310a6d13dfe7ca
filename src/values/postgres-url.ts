/** Reads the connection strings that `pg` accepts: a URL, or the folder of a Unix socket. */

/** Where a connection string leads, without user and password. */
export interface ConnectionTarget {
  /** Name or address with the port if it has one, or the folder of a socket; absent: the default of `pg`. */
  readonly host?: string
  /** Name of the database; absent: the default of `pg`. */
  readonly database?: string
}

const SCHEME = /^(?:postgres(?:ql)?:\/|socket:\/)/i

/**
 * Returns where a connection string leads; `undefined`: `pg` does not accept it, or it has an unencoded `#`, `?`, `/` or `@`
 * in the password, which would turn the user into a host.
 */
export function connectionTarget(text: string): ConnectionTarget | undefined {
  if (text.startsWith('/')) {
    const [folder, database] = text.split(' ')
    return targetOf(folder, database)
  }
  const url = SCHEME.test(text) ? parseUrl(text) : undefined
  if (url === undefined || url.hash !== '') return undefined
  const { searchParams } = url
  if ([...searchParams.keys()].some((name) => !/^\w+$/.test(name))) return undefined
  try {
    if (url.protocol === 'socket:') {
      return url.pathname.includes('@')
        ? undefined
        : targetOf(decodeURI(url.pathname), searchParams.get('db'))
    }
    const path = url.pathname.slice(1)
    const host = hostOf(url)
    // `pg` connects to one host.
    if (/[/@]/.test(path) || (host.includes(',') && !host.startsWith('/'))) return undefined
    return targetOf(host, decodeURIComponent(path))
  } catch {
    return undefined
  }
}

/** As `pg`: a URL with a user and no host gets one, which is not used. */
function parseUrl(text: string): (URL & { readonly hasNoHost?: boolean }) | undefined {
  if (URL.canParse(text)) return new URL(text)
  const withHost = text.replace('@/', '@unused/')
  if (!URL.canParse(withHost)) return undefined
  return Object.assign(new URL(withHost), { hasNoHost: true })
}

/** A parameter takes precedence. The host may be the encoded folder of a socket. */
function hostOf(url: URL & { readonly hasNoHost?: boolean }): string {
  const { searchParams } = url
  const name = searchParams.get('host')
  const port = searchParams.get('port') ?? url.port
  const host = name ?? (url.hasNoHost ? '' : decodeURIComponent(url.hostname))
  return host === '' || port === '' || host.startsWith('/') ? host : `${host}:${port}`
}

function targetOf(host: string | undefined, database: string | null | undefined): ConnectionTarget {
  return { ...(host ? { host } : {}), ...(database ? { database } : {}) }
}
