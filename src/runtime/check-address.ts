/** Checks a webhook's URL by a connection, as an attempt would make it, but without a request. */
import { HookswitchError, invalidInput } from '../errors.js'
import type { Clock, Sender } from '../ports.js'
import type { CompiledAddressPolicy } from '../values/address-policy.js'
import { type CheckedAddress, checkUri, reportConnection } from '../webhooks/address-check.js'

/** Checks of an account in any minute. */
const PER_MINUTE = 10
const MINUTE_MS = 60_000
/** Checks of an account at once; one where half of all are under way. */
const MAX_OF_ACCOUNT = 2
/** Checks of all accounts at once, on this node. As many more accounts wait for one of these to end. */
export const MAX_ADDRESS_CHECKS = 32
/** Longest check, ms. */
const TIMEOUT_MS = 5_000

interface AddressCheckDeps {
  readonly sender: Pick<Sender, 'connect'>
  readonly addressPolicy: CompiledAddressPolicy
  readonly clock: Pick<Clock, 'monotonic'>
  /** Longest attempt, ms; a check is not longer. */
  readonly attemptTimeoutMs: number
}

/**
 * Creates the check of one instance. Limits each account, so that nobody can scan ports.
 *
 * @returns checks a URL for an account; rejects with `InvalidInput` or `TooManyChecks`
 */
export function createAddressCheck(
  deps: AddressCheckDeps,
): (accountId: string, uri: unknown) => Promise<CheckedAddress> {
  const { sender, addressPolicy, clock } = deps
  /** When the checks of an account in the last minute were requested, ms; the account that requested last is the last entry. */
  const recent = new Map<string, readonly number[]>()
  /** Checks of an account that are under way or wait. */
  const running = new Map<string, number>()
  /** Starts the checks that wait, first come, first served. */
  const waiting: (() => void)[] = []
  let total = 0

  /** Counts a check. Returns the time until the account may request one, ms; 0: it was counted. */
  function take(accountId: string): number {
    const now = clock.monotonic()
    for (const [id, times] of recent) {
      if (times.at(-1)! > now - MINUTE_MS) break
      recent.delete(id)
    }
    const times = (recent.get(accountId) ?? []).filter((ms) => ms > now - MINUTE_MS)
    if (times.length >= PER_MINUTE) return times[0]! + MINUTE_MS - now
    recent.delete(accountId)
    recent.set(accountId, [...times, now])
    return 0
  }

  /** Resolves when the check may be made. A check takes at most `TIMEOUT_MS`, and so does the wait for one to end. */
  async function start(accountId: string): Promise<void> {
    const ofAccount = running.get(accountId) ?? 0
    const most = total < MAX_ADDRESS_CHECKS / 2 ? MAX_OF_ACCOUNT : 1
    if (ofAccount >= most || waiting.length >= MAX_ADDRESS_CHECKS) throw tooManyChecks(1_000)
    const waitMs = take(accountId)
    if (waitMs > 0) throw tooManyChecks(waitMs)
    running.set(accountId, ofAccount + 1)
    if (total >= MAX_ADDRESS_CHECKS) return new Promise((resolve) => waiting.push(resolve))
    total += 1
  }

  function end(accountId: string): void {
    const left = running.get(accountId)! - 1
    if (left === 0) running.delete(accountId)
    else running.set(accountId, left)
    const next = waiting.shift()
    if (next) next()
    else total -= 1
  }

  return async (accountId, uri) => {
    if (typeof uri !== 'string') throw invalidInput([wrongUri(uri)])
    const checked = checkUri(uri, addressPolicy)
    if ('isOk' in checked) return checked
    await start(accountId)
    try {
      const timeoutMs = Math.min(TIMEOUT_MS, deps.attemptTimeoutMs)
      return reportConnection(checked, await sender.connect?.(checked.uri, timeoutMs))
    } catch {
      // The host's sender failed.
      return reportConnection(checked, undefined)
    } finally {
      end(accountId)
    }
  }
}

const wrongUri = (uri: unknown) =>
  uri === undefined
    ? { path: 'uri', rule: 'required', message: 'Field is required but missing' }
    : { path: 'uri', rule: 'type', message: 'Value did not match type(s): string', target: 'string' }

const tooManyChecks = (waitMs: number) =>
  new HookswitchError('TooManyChecks', 'too many checks of addresses', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  })
