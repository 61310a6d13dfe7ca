import { errorCode, HookswitchError } from '../errors.js'
import type { Account } from './account.js'
import type { CredentialHolder, Directory } from './directory.js'

/**
 * Wraps a directory so that it rejects only with errors of this package. Anything else that the host's directory
 * throws, synchronously or not, becomes `StoreUnavailable` with the original as `cause`, and so does an invalid result.
 * `null` counts as `undefined`, since many database drivers return it for "none".
 */
export function safeDirectory(directory: Directory): Directory {
  const call = async <T>(
    method: string,
    invoke: () => Promise<T>,
    isValid: (value: T) => boolean,
  ): Promise<T> => {
    let value: T
    try {
      value = await invoke()
    } catch (thrown) {
      if (errorCode(thrown) !== undefined) throw thrown
      throw unavailable(method, 'failed', thrown)
    }
    if (!isValid(value)) throw unavailable(method, 'returned an invalid result')
    return value
  }
  const accounts = async (method: string, invoke: () => Promise<readonly Account[]>) =>
    (await call(method, invoke, (value) => isListOf(value, isAccount))).map(withoutNulls)
  const text = async (method: string, invoke: () => Promise<string | undefined>) =>
    (await call(method, invoke, (value) => value == null || typeof value === 'string')) ?? undefined
  const holder = async (method: string, invoke: () => ReturnType<Directory['holderOfApiKey']>) => {
    const found = await call(method, invoke, (value) => value == null || isHolder(value))
    return found == null ? undefined : withoutNulls(found)
  }

  const safe: Directory = {
    lineage: (accountId) => accounts('lineage', () => directory.lineage(accountId)),
    descendants: (accountId) =>
      call(
        'descendants',
        () => directory.descendants(accountId),
        (value) => isListOf(value, isText),
      ),
    accountsByRealm: (realm) => accounts('accountsByRealm', () => directory.accountsByRealm(realm)),
    accountsByName: (name) => accounts('accountsByName', () => directory.accountsByName(name)),
    holderOfApiKey: (apiKey) => holder('holderOfApiKey', () => directory.holderOfApiKey(apiKey)),
    holderOfCredentials: (accountIds, method, digest) =>
      holder('holderOfCredentials', () => directory.holderOfCredentials(accountIds, method, digest)),
    credentialVersion: (accountId, userId) =>
      text('credentialVersion', () => directory.credentialVersion(accountId, userId)),
    readApiKey: (accountId) => text('readApiKey', () => directory.readApiKey(accountId)),
  }
  return {
    ...safe,
    ...(directory.privLevelOf && {
      privLevelOf: async (accountId: string, userId: string) =>
        (await call(
          'privLevelOf',
          () => directory.privLevelOf!(accountId, userId),
          (value) => value == null || value === 'user' || value === 'admin',
        )) ?? undefined,
    }),
    ...(directory.rotateApiKey && {
      rotateApiKey: (accountId: string) =>
        call(
          'rotateApiKey',
          () => directory.rotateApiKey!(accountId),
          (value) => typeof value === 'string',
        ),
    }),
  }
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isListOf = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isItem)
const isAccount = (value: unknown): boolean => isText((value as Account | null)?.id)
const isHolder = (value: CredentialHolder): boolean =>
  isText(value.accountId) && isText(value.credentialVersion) && (value.userId == null || isText(value.userId))

/** Drops members that are null; returns the same object when there are none. */
function withoutNulls<T extends object>(value: T): T {
  if (!hasNull(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) as T
}

/** Without a list of the members: this runs for each account of a lineage, for each request. */
function hasNull(value: object): boolean {
  for (const key in value) if (value[key as keyof typeof value] === null) return true
  return false
}

/** Names only the method: its arguments and result may contain secrets. */
function unavailable(method: string, problem: string, cause?: unknown): HookswitchError {
  return new HookswitchError('StoreUnavailable', `the directory's ${method} ${problem}`, {
    retryAfterSeconds: 1,
    cause,
  })
}
