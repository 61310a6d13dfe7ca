/** Whether the service could send requests to an address: it connects, and sends nothing. */
import { accountRequest, statusOf } from './api.js'

/** `PUT webhooks/check`. */
export interface AddressCheck {
  readonly ok: boolean
  readonly scheme?: 'https' | 'http'
  readonly host?: string
  readonly port?: number
  /** Why not: `scheme`, `address_invalid`, `blocked_address`, or the code of a failure. */
  readonly problem?: { readonly code: string; readonly message: string }
  readonly warnings?: readonly string[]
}

/** `undefined` where the service does not check, or does not at the moment. */
export async function checkAddress(
  accountId: string,
  uri: string,
  signal: AbortSignal,
): Promise<AddressCheck | undefined> {
  try {
    const request = { accountId, data: { uri } }
    const check = await accountRequest<AddressCheck>('PUT', '/webhooks/check', request, signal)
    return check.problem?.code === 'not_checked' ? undefined : check
  } catch (thrown) {
    // A check is a help: whether it can be had or not, the form goes on, and saving says what is wrong.
    if (statusOf(thrown) === 401) throw thrown
    return undefined
  }
}
