import { type User, userNameKey } from '../../accounts/user.js'

/** Up to so many users are searched one by one. */
const MAX_SCANNED = 8

interface Indexes {
  readonly byId: Map<string, User>
  readonly byName: Map<string, User>
  readonly byCredential: Map<string, User>
}

/**
 * The users of one account, at least one. Most accounts have few users, for whom three maps would take more memory than the users
 * themselves: a service with 100,000 accounts is slower the more memory its garbage collector has to walk.
 */
export class AccountUsers {
  private few: readonly User[]
  private indexes: Indexes | undefined

  constructor(first: User) {
    this.few = [first]
  }

  get size(): number {
    return this.indexes?.byId.size ?? this.few.length
  }

  all(): readonly User[] {
    return this.indexes ? [...this.indexes.byId.values()] : this.few
  }

  byId(id: string): User | undefined {
    return this.indexes ? this.indexes.byId.get(id) : this.few.find((user) => user.id === id)
  }

  /** @param nameKey see `userNameKey` */
  byName(nameKey: string): User | undefined {
    return this.indexes
      ? this.indexes.byName.get(nameKey)
      : this.few.find((user) => userNameKey(user) === nameKey)
  }

  byCredential(key: string): User | undefined {
    return this.indexes
      ? this.indexes.byCredential.get(key)
      : this.few.find(({ credentialKeys }) => credentialKeys.includes(key))
  }

  /** Adds a user, whose id and name no other one has. */
  add(user: User): void {
    if (this.indexes) index(this.indexes, user)
    else if (this.few.length < MAX_SCANNED) this.few = this.few.concat(user)
    else {
      this.indexes = { byId: new Map(), byName: new Map(), byCredential: new Map() }
      for (const indexed of [...this.few, user]) index(this.indexes, indexed)
      this.few = []
    }
  }

  remove(user: User): void {
    this.few = this.few.filter(({ id }) => id !== user.id)
    if (!this.indexes) return
    this.indexes.byId.delete(user.id)
    this.indexes.byName.delete(userNameKey(user))
    for (const key of user.credentialKeys) this.indexes.byCredential.delete(key)
  }
}

function index({ byId, byName, byCredential }: Indexes, user: User): void {
  byId.set(user.id, user)
  byName.set(userNameKey(user), user)
  for (const key of user.credentialKeys) byCredential.set(key, user)
}
