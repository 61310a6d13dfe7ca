import { errorCode } from '../../errors.js'
import type { Hookswitch } from '../../hookswitch.js'
import { md5 } from '../../values/digest.js'
import type { Manner, ServiceCall } from './service-calls.js'

/** What whoever asks the service has to remember: ids and secrets by their names in the story. */
export interface ServiceAsker {
  readonly keys: Record<string, string[]>
  readonly passwords: Record<string, number>
  readonly tokens: string[]
  readonly hooks: Record<string, { id: string; account: string; manner: Manner }>
  /** Names of events by id. */
  readonly events: Map<string, string>
}

export const USER = 'ada'
export const passwordOf = (account: string, number: number) => `password ${number} of ${account}`

/** Asks the real service; its answer in the form in which the naive one answers. A refusal is an answer too. */
export async function askService(hs: Hookswitch, call: ServiceCall, asker: ServiceAsker): Promise<unknown> {
  try {
    return (await asked(hs, call, asker)) ?? null
  } catch (thrown) {
    const code = errorCode(thrown)
    if (code === undefined) throw thrown
    return code
  }
}

async function asked(hs: Hookswitch, call: ServiceCall, asker: ServiceAsker): Promise<unknown> {
  const { keys, passwords, tokens, hooks, events } = asker
  switch (call.do) {
    case 'sign in': {
      const { account, by, right } = call
      const known = keys[account]!
      const apiKey = right ? known.at(-1)! : (known.at(-2) ?? 'n'.repeat(64))
      const password = passwordOf(account, (passwords[account] ?? 0) - (right ? 0 : 1))
      const credentials = md5(`${USER}:${password}`)
      const login = by === 'key' ? { apiKey } : { credentials, realm: `${account}.example.com` }
      tokens.push((await hs.auth.signIn(login)).token)
      return `token ${tokens.length}`
    }
    case 'use': {
      const { accountId, userId } = await hs.auth.authenticate(tokenOf(tokens, call.token))
      return `${accountId}, by ${userId === undefined ? 'key' : 'password'}`
    }
    case 'sign out':
      return hs.auth.signOut(tokenOf(tokens, call.token))
    case 'rotate the key':
      keys[call.account]!.push(await hs.accounts.rotateApiKey(call.account))
      return null
    case 'set the password': {
      const number = (passwords[call.account] ?? 0) + 1
      await hs.accounts.setPassword(call.account, USER, passwordOf(call.account, number))
      passwords[call.account] = number
      return null
    }
    case 'enable':
      await hs.accounts.update(call.account, { enabled: call.enabled })
      return null
    case 'make': {
      const { hook, account, kind, below } = call
      const uri = `https://receiver.example.com/${hook}`
      const wish = { name: hook, uri, hook: kind, includeSubaccounts: below }
      const { id, revision } = await hs.webhooks.create(account, wish)
      hooks[hook] = { id, account, manner: 'answers' }
      return `revision ${revision}`
    }
    case 'patch':
    case 'remove': {
      const { id, account } = hooks[call.hook]!
      const onlyIf = call.revision === undefined ? {} : { revision: call.revision }
      const changed =
        call.do === 'patch'
          ? await hs.webhooks.patch(account, id, call.change, onlyIf)
          : await hs.webhooks.remove(account, id, onlyIf)
      return `revision ${changed.revision - (call.do === 'remove' ? 1 : 0)}`
    }
    case 'list': {
      const names = new Map(Object.entries(hooks).map(([name, { id }]) => [id, name]))
      const list = await hs.webhooks.list(call.account)
      return list.map(({ id, name, enabled, revision }) => ({ id: names.get(id), name, enabled, revision }))
    }
    case 'publish': {
      const { account, call: callId, kind, key, event } = call
      const given = { hook: kind, accountId: account, callId }
      const published = await hs.publish(given, key === undefined ? {} : { idempotencyKey: key })
      if (!published.duplicate) events.set(published.eventId, event)
      const { eventId, sequence: number, duplicate } = published
      return { id: events.get(eventId), number, duplicate }
    }
    case 'teach':
      hooks[call.hook]!.manner = call.manner
      return null
  }
}

const tokenOf = (tokens: readonly string[], name: string) => tokens[Number(name.slice('token '.length)) - 1]!
