import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteStore } from 'hookswitch/sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { newAccount, newApiKey, newWebhook } from '../../../src/store/conformance/fixtures.js'
import { errorOf, freshFolder, notedLog, opened } from './sqlite-bench.js'

let path: string
let key: string
beforeEach(() => {
  path = join(freshFolder(), 'x.db')
  key = `${path}.key`
})

const store = (log = notedLog()) => opened(sqliteStore({ path, inThread: true }), log)

/** The secret of this database, opened once more. */
async function secret(log = notedLog()): Promise<string> {
  const again = await store(log)
  try {
    return (await again.secret?.())!
  } finally {
    await again.close()
  }
}

async function seal(): Promise<void> {
  const open = await store()
  const account = newAccount()
  await open.accounts.insert(account, newApiKey(account.id), [])
  await open.close()
}

async function withWebhook(): Promise<void> {
  const open = await store()
  await open.webhooks.insert(newWebhook())
  await open.close()
}

describe('the key for secrets at rest', () => {
  it('is made once, for the owner alone, and stays the same', async () => {
    const first = await secret()
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(readFileSync(key, 'utf8')).toBe(`${first}\n`)
    if (process.platform !== 'win32') expect(statSync(key).mode & 0o777).toBe(0o600)
    await seal()
    expect(await secret()).toBe(first)
  })

  it('differs from database to database', async () => {
    const first = await secret()
    path = join(freshFolder(), 'x.db')
    expect(await secret()).not.toBe(first)
  })

  it('is made only when it is asked for: a host that has a key of its own gets no second one', async () => {
    await seal()
    expect(() => statSync(key)).toThrow('ENOENT')
  })

  it.each(['an account', 'a webhook'])(
    'is never made anew beside %s: what is sealed would stay shut',
    async (what) => {
      await secret()
      await (what === 'an account' ? seal() : withWebhook())
      rmSync(key)
      const error = await errorOf(secret())
      expect(error.code).toBe('StoreCorrupt')
      expect(error.message).toBe(
        `${key} is not there, and what is secret in ${path} is sealed already: restore the file from a backup, or give the secret that the service was started with before`,
      )
      expect(() => statSync(key)).toThrow('ENOENT')
    },
  )

  it.each(['', 'short', 'g'.repeat(64), `${'a'.repeat(64)}b`])(
    'is refused when it is no key: %j',
    async (content) => {
      await secret()
      await seal()
      writeFileSync(key, content)
      const error = await errorOf(secret())
      expect(error.code).toBe('StoreCorrupt')
      expect(error.message).toContain('is not a key (64 hex digits)')
      if (content !== '') expect(error.message).not.toContain(content)
      expect(readFileSync(key, 'utf8')).toBe(content)
    },
  )

  it('is left alone when it is no key, though nothing is sealed; an empty file is filled', async () => {
    writeFileSync(key, 'my own notes')
    expect((await errorOf(secret())).message).toContain('put the right one there, or remove the file')
    expect(readFileSync(key, 'utf8')).toBe('my own notes')
    writeFileSync(key, '')
    expect(await secret()).toMatch(/^[0-9a-f]{64}$/)
  })

  it('may be brought by the host, with or without an end of line', async () => {
    for (const end of ['', '\n', '\r\n']) {
      writeFileSync(key, 'ab'.repeat(32) + end, { mode: 0o600 })
      expect(await secret()).toBe('ab'.repeat(32))
    }
  })

  it.skipIf(process.platform === 'win32')(
    'is warned about when others may read it, and never logged',
    async () => {
      const log = notedLog()
      const made = await secret(log)
      expect(log.said).toEqual([])
      chmodSync(key, 0o640)
      expect(await secret(log)).toBe(made)
      expect(log.said).toEqual([`warn ${key} can be read by other users: chmod 600 it {}`])
    },
  )

  it('cannot be had from a store that is not open', async () => {
    expect((await errorOf(sqliteStore({ path }).secret!())).code).toBe('StoreUnavailable')
  })
})
