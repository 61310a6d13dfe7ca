import { errorCode, HookswitchError, invalidInput } from '../errors.js'
import type { SecretBox } from '../values/seal.js'
import { type Account, realmKey } from './account.js'
import { type AccountInput, changedAccount, parseAccountInput } from './account-input.js'
import { openApiKey } from './api-key.js'
import type { AccountDoors } from './doors.js'
import { createAccount, updateAccount } from './manage.js'
import { ensureUser } from './users.js'

/**
 * Creates the account, or brings it up to date: for lists of accounts that are read at every start. Fields and
 * users that are left out stay as they are, nothing is removed, and `apiKey` counts only at creation, so that a
 * restart never revives a key that was rotated. Resolves to the account's id.
 *
 * @param input as for `createAccount`; an existing account is found by `id`, or by `realm` where no id is given
 * @throws `InvalidInput`, `Conflict`, `InvalidOption` (field `secret`) where the service secret is not the store's
 */
export async function ensureAccount(doors: AccountDoors, input: AccountInput): Promise<string> {
  const wanted = parseAccountInput(input)
  await refuseOtherSecret(doors)
  const found = await find(doors, wanted)
  if (found) return bringUpToDate(doors, found, wanted)
  try {
    return (await createAccount(doors, wanted)).id
  } catch (thrown) {
    // Another node that was started at the same moment, with the same list, was quicker.
    const made = errorCode(thrown) === 'Conflict' ? await find(doors, wanted) : undefined
    if (!made) throw thrown
    return bringUpToDate(doors, made, wanted)
  }
}

type Wanted = ReturnType<typeof parseAccountInput>

async function find({ accounts }: AccountDoors, { id, realm }: Wanted): Promise<Account | undefined> {
  const [found] = id === undefined ? await accounts.byRealm(realmKey(realm)) : await accounts.lineage(id)
  return found
}

/** Boxes that have opened what their store holds. */
const proven = new WeakSet<SecretBox>()
/** So many accounts are asked: one alone might have been made under a wrong secret. */
const ASKED = 5

/**
 * A node that was started with another secret would go on, seal what others cannot open, and write look-up keys of
 * passwords that nobody's logins fit. So nothing is ensured before the secret has opened one API key of the store, where
 * there are any.
 */
async function refuseOtherSecret({ accounts, box }: AccountDoors): Promise<void> {
  if (proven.has(box)) return
  let closed: string | undefined
  for (const { id } of (await accounts.list()).slice(0, ASKED)) {
    const row = await accounts.apiKey(id)
    if (!row) continue
    if (openApiKey(box, row) !== undefined) {
      proven.add(box)
      return
    }
    closed ??= id
  }
  if (closed === undefined) return
  const message = `secret is not the one that this store was begun with: it does not open the API key of ${closed}`
  throw new HookswitchError('InvalidOption', message, { field: 'secret' })
}

async function bringUpToDate(doors: AccountDoors, found: Account, wanted: Wanted): Promise<string> {
  const { id: _, apiKey: __, users = [], ...change } = wanted
  const changed = changedAccount(found, change, found.modifiedMs)
  if (Object.entries(changed).some(([key, value]) => value !== found[key as keyof Account])) {
    await updateAccount(doors, found.id, change)
  }
  for (const user of users) {
    await ensureUser(doors, found.id, user).catch((thrown: unknown) => {
      if (errorCode(thrown) !== 'Conflict') throw thrown
      return ensureUser(doors, found.id, user)
    })
  }
  return found.id
}

/**
 * `ensureAccount` for a whole list, parents first, in whichever order they are written. Resolves to the ids, in
 * the order of the list.
 *
 * @throws `InvalidInput`, `Conflict`; the field begins with the place in the list, from 0
 */
export async function ensureAccounts(
  doors: AccountDoors,
  inputs: readonly AccountInput[],
): Promise<readonly string[]> {
  if (!Array.isArray(inputs)) {
    throw invalidInput([
      { path: '', rule: 'type', message: 'Value did not match type(s): array', target: 'array' },
    ])
  }
  const ids: string[] = []
  for (const place of parentsFirst(inputs)) {
    ids[place] = await ensureAccount(doors, inputs[place]).catch((thrown: unknown) => {
      throw atPlace(place, thrown)
    })
  }
  return ids
}

function atPlace(place: number, thrown: unknown): unknown {
  if (errorCode(thrown) !== 'InvalidInput' && errorCode(thrown) !== 'Conflict') return thrown
  const { code, message, field, failures } = thrown as HookswitchError
  if (failures) {
    return invalidInput(
      failures.map((one) => ({ ...one, path: one.path === '' ? `${place}` : `${place}.${one.path}` })),
    )
  }
  return new HookswitchError(code, `account ${place} of the list: ${message}`, {
    field: `${place}.${field ?? ''}`,
    cause: thrown,
  })
}

/** The places of a list in an order in which every parent comes before its children. */
export function parentsFirst(inputs: readonly AccountInput[]): readonly number[] {
  const placeOf = new Map(inputs.map((input, place) => [input?.id, place]))
  const order = new Set<number>()
  for (const start of inputs.keys()) {
    const upwards = new Set<number>()
    let place: number | undefined = start
    // In a circle there is no first one: creating the account says so.
    while (place !== undefined && !order.has(place) && !upwards.has(place)) {
      upwards.add(place)
      const parentId: string | undefined = inputs[place]?.parentId
      place = parentId === undefined ? undefined : placeOf.get(parentId)
    }
    for (const one of [...upwards].reverse()) order.add(one)
  }
  return [...order]
}
