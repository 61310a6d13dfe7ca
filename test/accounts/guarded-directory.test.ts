import { describe, expect, it } from 'vitest'
import type { Directory } from '../../src/accounts/directory.js'
import { guardedDirectory } from '../../src/accounts/guarded-directory.js'
import { storedDirectory } from '../../src/accounts/stored-directory.js'
import { HookswitchError } from '../../src/errors.js'
import { accountWorld } from './account-world.js'

const questions: [string, (directory: Directory) => Promise<unknown>][] = [
  ['lineage', (directory) => directory.lineage('secret-1')],
  ['descendants', (directory) => directory.descendants('secret-1')],
  ['accountsByRealm', (directory) => directory.accountsByRealm('secret-1')],
  ['accountsByName', (directory) => directory.accountsByName('secret-1')],
  ['holderOfApiKey', (directory) => directory.holderOfApiKey('secret-1')],
  ['holderOfCredentials', (directory) => directory.holderOfCredentials(['a'], 'md5', 'secret-1')],
  ['credentialVersion', (directory) => directory.credentialVersion('a', 'secret-1')],
  ['readApiKey', (directory) => directory.readApiKey('secret-1')],
  ['rotateApiKey', (directory) => directory.rotateApiKey!('secret-1')],
]

function answering(answer: () => unknown): Directory {
  return Object.fromEntries(questions.map(([name]) => [name, answer])) as unknown as Directory
}

describe('a directory of the host', () => {
  it.each(questions)('that fails in %s, at once or later, is unavailable', async (name, ask) => {
    const reason = new Error('no route to secret-1')
    for (const failing of [
      answering(() => {
        throw reason
      }),
      answering(() => Promise.reject(reason)),
    ]) {
      const answer = ask(guardedDirectory(failing))
      await expect(answer).rejects.toMatchObject({ code: 'StoreUnavailable', cause: reason })
      await expect(answer).rejects.toThrow(name)
      await expect(answer).rejects.not.toThrow('secret-1')
    }
  })

  it.each(questions)('that answers %s with nonsense is unavailable', async (_, ask) => {
    await expect(ask(guardedDirectory(answering(async () => 7)))).rejects.toMatchObject({
      code: 'StoreUnavailable',
    })
  })

  it('keeps an error of ours as it is', async () => {
    const own = new HookswitchError('NotFound', 'gone')
    await expect(guardedDirectory(answering(() => Promise.reject(own))).readApiKey('a')).rejects.toBe(own)
  })

  it('may say null for none', async () => {
    const directory = guardedDirectory(answering(async () => null))
    expect(await directory.holderOfApiKey('k')).toBeUndefined()
    expect(await directory.holderOfCredentials([], 'md5', 'd')).toBeUndefined()
    expect(await directory.credentialVersion('a', undefined)).toBeUndefined()
    expect(await directory.readApiKey('a')).toBeUndefined()
  })

  it('is called as a method, and offers to rotate keys only where it can', async () => {
    class Host {
      readonly accounts = [{ id: 'a' }]
      async lineage() {
        return this.accounts
      }
    }
    const directory = guardedDirectory(new Host() as unknown as Directory)
    expect(await directory.lineage('a')).toEqual([{ id: 'a' }])
    expect(directory.rotateApiKey).toBeUndefined()
    expect(guardedDirectory(storedDirectory(accountWorld())).rotateApiKey).toBeTypeOf('function')
  })
})
