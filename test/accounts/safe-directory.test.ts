import { describe, expect, it } from 'vitest'
import type { Directory } from '../../src/accounts/directory.js'
import { safeDirectory } from '../../src/accounts/safe-directory.js'
import { storeDirectory } from '../../src/accounts/store-directory.js'
import { HookswitchError } from '../../src/errors.js'
import { createAccountHarness } from './account-harness.js'

const calls: [string, (directory: Directory) => Promise<unknown>][] = [
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

function directoryReturning(result: () => unknown): Directory {
  return Object.fromEntries(calls.map(([name]) => [name, result])) as unknown as Directory
}

describe('safeDirectory', () => {
  it.each(calls)('turns an error thrown or rejected by %s into StoreUnavailable', async (name, call) => {
    const reason = new Error('no route to secret-1')
    for (const failing of [
      directoryReturning(() => {
        throw reason
      }),
      directoryReturning(() => Promise.reject(reason)),
    ]) {
      const result = call(safeDirectory(failing))
      await expect(result).rejects.toMatchObject({ code: 'StoreUnavailable', cause: reason })
      await expect(result).rejects.toThrow(name)
      await expect(result).rejects.not.toThrow('secret-1')
    }
  })

  it.each(calls)('turns an invalid result of %s into StoreUnavailable', async (_, call) => {
    await expect(call(safeDirectory(directoryReturning(async () => 7)))).rejects.toMatchObject({
      code: 'StoreUnavailable',
    })
  })

  it('passes on errors of this package unchanged', async () => {
    const own = new HookswitchError('NotFound', 'gone')
    await expect(safeDirectory(directoryReturning(() => Promise.reject(own))).readApiKey('a')).rejects.toBe(
      own,
    )
  })

  it('accepts null for none', async () => {
    const directory = safeDirectory(directoryReturning(async () => null))
    expect(await directory.holderOfApiKey('k')).toBeUndefined()
    expect(await directory.holderOfCredentials([], 'md5', 'd')).toBeUndefined()
    expect(await directory.credentialVersion('a', undefined)).toBeUndefined()
    expect(await directory.readApiKey('a')).toBeUndefined()
  })

  it('calls the directory with its `this`, and offers key rotation only if the directory does', async () => {
    class Host {
      readonly accounts = [{ id: 'a' }]
      async lineage() {
        return this.accounts
      }
    }
    const directory = safeDirectory(new Host() as unknown as Directory)
    expect(await directory.lineage('a')).toEqual([{ id: 'a' }])
    expect(directory.rotateApiKey).toBeUndefined()
    expect(safeDirectory(storeDirectory(createAccountHarness())).rotateApiKey).toBeTypeOf('function')
  })
})
