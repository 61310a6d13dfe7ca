/** Checks a webhook's URL by a connection, as an attempt would make it, but without a request. */
import { HookswitchError, invalidInput } from '../errors.js'
import type { Clock, Sender } from '../ports.js'
import type { CompiledAddressPolicy } from '../values/address-policy.js'
import { keyedBuckets } from '../values/keyed-buckets.js'
import { type CheckedAddress, checkUri, reportConnection } from '../webhooks/address-check.js'

/** Checks of an account in a burst, and a minute. */
const PER_MINUTE = 10
const RATE = { burst: PER_MINUTE, refillPerSecond: PER_MINUTE / 60 }
/** Checks of an account at once. */
const MAX_OF_ACCOUNT = 2
/** Checks of all accounts at once, on this node. */
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
  const waitMsOf = keyedBuckets()
  const running = new Map<string, number>()
  let total = 0

  function start(accountId: string): void {
    const ofAccount = running.get(accountId) ?? 0
    if (ofAccount >= MAX_OF_ACCOUNT || total >= MAX_ADDRESS_CHECKS) throw tooManyChecks(1_000)
    const waitMs = waitMsOf(accountId, clock.monotonic(), RATE)
    if (waitMs > 0) throw tooManyChecks(waitMs)
    running.set(accountId, ofAccount + 1)
    total += 1
  }

  function end(accountId: string): void {
    const left = running.get(accountId)! - 1
    if (left === 0) running.delete(accountId)
    else running.set(accountId, left)
    total -= 1
  }

  return async (accountId, uri) => {
    if (typeof uri !== 'string') throw invalidInput([wrongUri(uri)])
    const checked = checkUri(uri, addressPolicy)
    if ('isOk' in checked) return checked
    start(accountId)
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
