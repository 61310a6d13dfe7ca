/** `GET session`: the token of a user who is signed in to the host, for hosts with a login of their own. */
import { errorResponse, type RequestRecord, type ResponseRecord } from 'hookswitch/adapter'

/** A token and its account, as `hs.auth.signIn` returns them. */
export interface PortalSession {
  /** The access token. */
  readonly token: string
  /** The account that the token belongs to. */
  readonly account: { readonly id: string }
}

/**
 * Finds the session of a request.
 *
 * @param headers of the request, with lower-case names: the host's cookie is in `headers.cookie`
 * @returns `undefined` for a user who is not signed in to the host
 */
export type SessionReader = (
  headers: RequestRecord['headers'],
) => PortalSession | undefined | Promise<PortalSession | undefined>

/** A request with this header is preceded by a preflight where it comes from another origin, and is then refused. */
const SESSION_HEADER = 'x-hookswitch-portal'

/**
 * Responds with the token. Browsers send `sec-fetch-site` on secure origins only; where it is absent, the header of the
 * page's own proves that the request is the page's.
 */
export async function respondWithSession(
  read: SessionReader,
  { headers }: Pick<RequestRecord, 'headers'>,
): Promise<ResponseRecord> {
  const site = headers['sec-fetch-site']
  if (headers[SESSION_HEADER] === undefined || (site !== undefined && site !== 'same-origin')) {
    return refuse(403, 'forbidden')
  }
  let session: PortalSession | undefined
  try {
    session = await read(headers)
  } catch {
    // An error of the host may contain its secrets.
    return refuse(500, 'internal_error')
  }
  if (session === undefined) return refuse(401, 'invalid_credentials')
  const body = JSON.stringify({ token: session.token, accountId: session.account.id })
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
    },
    body,
  }
}

function refuse(status: number, name: string): ResponseRecord {
  return errorResponse(status, name, { headers: { 'cache-control': 'no-store' } })
}
