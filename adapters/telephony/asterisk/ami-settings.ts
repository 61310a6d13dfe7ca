/**
 * Checks the settings of `manager.conf` on which the events depend, by the dial plan function `AST_CONFIG`. It reads the
 * file, and not what is loaded; where the function or the permission to call it is missing, nothing is checked. Pure.
 */

/** The queries, and the problems that their answers show. */
interface SettingsCheck {
  /** The variables to get, by the name of the setting. */
  readonly variables: Readonly<Record<'read' | 'timestampevents', string>>
  /** Returns what is wrong, one sentence per setting. */
  problems(values: Readonly<Record<'read' | 'timestampevents', string | undefined>>): readonly string[]
}

/** User names that can be an argument of a function: no comma, bracket or expression. */
const PLAIN_NAME = /^[\w.@ -]{1,80}$/
/** What Asterisk takes for yes (`ast_true`). */
const YES = /^(?:yes|true|y|t|1|on)$/i

/**
 * @param eventMask the event classes that the session subscribes to: `call,dialplan,agent`
 * @param selectedClasses classes of which the host has selected hooks: `agent`, `dtmf`; not having them is a problem
 * @returns `undefined` for a user whose settings cannot be queried
 */
export function settingsCheck(
  username: string,
  eventMask: string,
  selectedClasses: readonly string[] = [],
): SettingsCheck | undefined {
  if (!PLAIN_NAME.test(username)) return undefined
  const wanted = new Set(classesOf(eventMask))
  return {
    variables: {
      read: `AST_CONFIG(manager.conf,${username},read)`,
      timestampevents: 'AST_CONFIG(manager.conf,general,timestampevents)',
    },
    problems({ read, timestampevents }) {
      // The function exists, and knows the user.
      if (read === undefined) return []
      const readable = new Set(classesOf(read))
      const isReadable = (name: string) => readable.has('all') || readable.has(name)
      const lacks = (name: string) => (wanted.has(name) || wanted.has('all')) && !isReadable(name)
      const problems: string[] = []
      if (lacks('call')) {
        problems.push(
          `manager.conf: 'read' of [${username}] lacks 'call': no event of a call arrives (read = call,dialplan)`,
        )
      } else if (lacks('dialplan')) {
        problems.push(
          `manager.conf: 'read' of [${username}] lacks 'dialplan': a variable that the dial plan sets is known only ` +
            'with the next event of the call (read = call,dialplan)',
        )
      }
      for (const name of selectedClasses) {
        if (isReadable(name)) continue
        problems.push(`manager.conf: 'read' of [${username}] lacks '${name}', which optionalHooks needs`)
      }
      if (!YES.test(timestampevents ?? '')) problems.push(NO_TIMESTAMPS)
      return problems
    },
  }
}

/** The problem of events without a time. */
export const NO_TIMESTAMPS =
  'manager.conf: events have no time, so that of their arrival is used (timestampevents = yes in [general])'

function classesOf(list: string): readonly string[] {
  return list
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
}
