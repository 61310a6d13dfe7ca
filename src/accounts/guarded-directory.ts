import { errorCode, HookswitchError } from '../errors.js'
import type { Account } from './account.js'
import type { CredentialHolder, Directory } from './directory.js'

/**
 * A directory whose every failure is `StoreUnavailable` (unless it is an error of ours already) with the reason as
 * its `cause`, for the host that brings its own: what it throws, at once or later, and answers that are no answer.
 * `null` counts as `undefined`, which many databases say for "none".
 */
export function guardedDirectory(directory: Directory): Directory {
  const ask = async <T>(
    question: string,
    answer: () => Promise<T>,
    isAnswer: (value: T) => boolean,
  ): Promise<T> => {
    let value: T
    try {
      value = await answer()
    } catch (thrown) {
      if (errorCode(thrown) !== undefined) throw thrown
      throw unavailable(question, 'failed', thrown)
    }
    if (!isAnswer(value)) throw unavailable(question, 'gave no valid answer')
    return value
  }
  const accounts = async (question: string, answer: () => Promise<readonly Account[]>) =>
    (await ask(question, answer, (value) => isListOf(value, isAccount))).map(withoutNulls)
  const text = async (question: string, answer: () => Promise<string | undefined>) =>
    (await ask(question, answer, (value) => value == null || typeof value === 'string')) ?? undefined
  const holder = async (question: string, answer: () => ReturnType<Directory['holderOfApiKey']>) => {
    const found = await ask(question, answer, (value) => value == null || isHolder(value))
    return found == null ? undefined : withoutNulls(found)
  }

  const guarded: Directory = {
    lineage: (accountId) => accounts('lineage', () => directory.lineage(accountId)),
    descendants: (accountId) =>
      ask(
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
  if (!directory.rotateApiKey) return guarded
  return {
    ...guarded,
    rotateApiKey: (accountId) =>
      ask(
        'rotateApiKey',
        () => directory.rotateApiKey!(accountId),
        (value) => typeof value === 'string',
      ),
  }
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isListOf = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isItem)
const isAccount = (value: unknown): boolean => isText((value as Account | null)?.id)
const isHolder = (value: CredentialHolder): boolean =>
  isText(value.accountId) && isText(value.credentialVersion) && (value.userId == null || isText(value.userId))

/** The same object where nothing in it is null. */
function withoutNulls<T extends object>(value: T): T {
  if (!Object.values(value).includes(null)) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) as T
}

/** Names the question alone: its arguments and its answer may be secrets. */
function unavailable(question: string, how: string, cause?: unknown): HookswitchError {
  return new HookswitchError('StoreUnavailable', `the directory's ${question} ${how}`, {
    retryAfterSeconds: 1,
    cause,
  })
}
