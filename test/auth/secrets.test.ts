import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/auth/authenticate.js'
import { signIn } from '../../src/auth/sign-in.js'
import { signOut } from '../../src/auth/sign-out.js'
import { md5Of, sha1Of } from '../accounts/account-world.js'
import { authWorld } from './auth-world.js'

const bob = { credentials: md5Of('bob:pw'), realm: 'acme.test' }

describe('no secret', () => {
  it('reaches the stores or an error: no token, key, password or digest of a password', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('password', 'rotate', 'user', 'key', 'wrong', 'ensure'), { maxLength: 12 }),
        async (doings) => {
          const world = await authWorld()
          const secrets = new Set<string>([world.apiKey])
          const thrown: unknown[] = []
          let password = 'pw of bob'
          const setPassword = async (verb: () => Promise<unknown>) => {
            for (const text of [`bob:${password}`, `Bob:${password}`]) {
              secrets.add(md5Of(text)).add(sha1Of(text))
            }
            secrets.add(password)
            await verb()
          }
          await setPassword(() => world.accounts.setPassword('acme', 'bob', password))
          let key = world.apiKey
          for (const doing of doings) {
            if (doing === 'rotate') {
              key = await world.accounts.rotateApiKey('acme')
              secrets.add(key)
            } else if (doing === 'wrong') {
              await signIn(world, { credentials: md5Of(`Bob:${password}`), realm: 'no.test' }).catch((e) =>
                thrown.push(e),
              )
              await signIn(world, { apiKey: `${key.slice(1)}!` }).catch((e) => thrown.push(e))
              await world.accounts
                .create({ name: 'B', realm: 'b.test', apiKey: key })
                .catch((e) => thrown.push(e))
              await world.accounts
                .addUser('acme', { username: 'a:b', password, id: 'not an id' })
                .catch((e) => thrown.push(e))
            } else if (doing === 'password' || doing === 'ensure') {
              password += '!'
              await setPassword(() =>
                doing === 'password'
                  ? world.accounts.setPassword('acme', 'u1', password)
                  : world.accounts.ensure([
                      {
                        id: 'acme',
                        name: 'Acme',
                        realm: 'acme.test',
                        apiKey: key,
                        users: [{ username: 'Bob', password }],
                      },
                    ]),
              )
            } else {
              const login =
                doing === 'key' ? { apiKey: key } : { ...bob, credentials: md5Of(`bob:${password}`) }
              const { token } = await signIn(world, login)
              secrets.add(token)
              await authenticate(world, token)
              await signOut(world, token)
              await authenticate(world, token).catch((e) => thrown.push(e))
            }
          }
          const text = JSON.stringify([world.heard, thrown, thrown.map(String)])
          for (const secret of secrets) expect(text).not.toContain(secret)
        },
      ),
      { numRuns: 60 },
    )
  })
})
