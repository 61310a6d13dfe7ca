import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteStore } from 'hookswitch/sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { newAccount, newApiKey, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { openStore, recordingLog, rejectionOf, temporaryFolder } from './sqlite-harness.js'

let path: string
let key: string
beforeEach(() => {
  path = join(temporaryFolder(), 'x.db')
  key = `${path}.key`
})

const open = (log = recordingLog()) => openStore(sqliteStore({ path, inThread: true }), log)

/** Opens the database again and returns its secret. */
async function readSecret(log = recordingLog()): Promise<string> {
  const again = await open(log)
  try {
    return (await again.secret?.())!
  } finally {
    await again.close()
  }
}

async function insertAccount(): Promise<void> {
  const store = await open()
  const account = newAccount()
  await store.accounts.insert(account, newApiKey(account.id), [])
  await store.close()
}

async function insertWebhook(): Promise<void> {
  const store = await open()
  await store.webhooks.insert(newWebhook())
  await store.close()
}

describe('the encryption key', () => {
  it('is generated once, readable by the owner only, and stays the same', async () => {
    const first = await readSecret()
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(readFileSync(key, 'utf8')).toBe(`${first}\n`)
    if (process.platform !== 'win32') expect(statSync(key).mode & 0o777).toBe(0o600)
    await insertAccount()
    expect(await readSecret()).toBe(first)
  })

  it('differs from database to database', async () => {
    const first = await readSecret()
    path = join(temporaryFolder(), 'x.db')
    expect(await readSecret()).not.toBe(first)
  })

  it('is generated on first use only: a host that passes a secret gets no key file', async () => {
    await insertAccount()
    expect(() => statSync(key)).toThrow('ENOENT')
  })

  it.each(['an account', 'a webhook'])(
    'is not generated again if %s exists, whose secrets could then never be decrypted',
    async (what) => {
      await readSecret()
      await (what === 'an account' ? insertAccount() : insertWebhook())
      rmSync(key)
      const error = await rejectionOf(readSecret())
      expect(error.code).toBe('StoreCorrupt')
      expect(error.message).toBe(
        `${key} is missing, but ${path} contains secrets encrypted with it: restore the file from a backup, or pass the secret that the service was started with before`,
      )
      expect(() => statSync(key)).toThrow('ENOENT')
    },
  )

  it.each(['', 'short', 'g'.repeat(64), `${'a'.repeat(64)}b`])(
    'is rejected when it is malformed: %j',
    async (content) => {
      await readSecret()
      await insertAccount()
      writeFileSync(key, content)
      const error = await rejectionOf(readSecret())
      expect(error.code).toBe('StoreCorrupt')
      expect(error.message).toContain('is not a key (64 hex digits)')
      if (content !== '') expect(error.message).not.toContain(content)
      expect(readFileSync(key, 'utf8')).toBe(content)
    },
  )

  it('is not overwritten when it is malformed, even if nothing is encrypted; an empty file is filled', async () => {
    writeFileSync(key, 'my own notes')
    expect((await rejectionOf(readSecret())).message).toContain('put the right one there, or remove the file')
    expect(readFileSync(key, 'utf8')).toBe('my own notes')
    writeFileSync(key, '')
    expect(await readSecret()).toMatch(/^[0-9a-f]{64}$/)
  })

  it('may be written by the host, with or without a final line break', async () => {
    for (const end of ['', '\n', '\r\n']) {
      writeFileSync(key, 'ab'.repeat(32) + end, { mode: 0o600 })
      expect(await readSecret()).toBe('ab'.repeat(32))
    }
  })

  it.skipIf(process.platform === 'win32')(
    'causes a warning when other users can read it, and is never logged',
    async () => {
      const log = recordingLog()
      const created = await readSecret(log)
      expect(log.lines).toEqual([])
      chmodSync(key, 0o640)
      expect(await readSecret(log)).toBe(created)
      expect(log.lines).toEqual([`warn ${key} can be read by other users: chmod 600 it {}`])
    },
  )

  it('is not available from a store that is not open', async () => {
    expect((await rejectionOf(sqliteStore({ path }).secret!())).code).toBe('StoreUnavailable')
  })
})
