import { errorCode, HookswitchError } from '../errors.js'
import type { Directory } from './directory.js'

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
  const list = <T>(question: string, answer: () => Promise<readonly T[]>) =>
    ask(question, answer, Array.isArray)
  const text = async (question: string, answer: () => Promise<string | undefined>) =>
    (await ask(question, answer, (value) => value == null || typeof value === 'string')) ?? undefined
  const holder = async (question: string, answer: () => ReturnType<Directory['holderOfApiKey']>) =>
    (await ask(
      question,
      answer,
      (value) =>
        value == null || (typeof value.accountId === 'string' && typeof value.credentialVersion === 'string'),
    )) ?? undefined

  const guarded: Directory = {
    lineage: (accountId) => list('lineage', () => directory.lineage(accountId)),
    descendants: (accountId) => list('descendants', () => directory.descendants(accountId)),
    accountsByRealm: (realm) => list('accountsByRealm', () => directory.accountsByRealm(realm)),
    accountsByName: (name) => list('accountsByName', () => directory.accountsByName(name)),
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

/** Names the question alone: its arguments and its answer may be secrets. */
function unavailable(question: string, how: string, cause?: unknown): HookswitchError {
  return new HookswitchError('StoreUnavailable', `the directory's ${question} ${how}`, {
    retryAfterSeconds: 1,
    cause,
  })
}
