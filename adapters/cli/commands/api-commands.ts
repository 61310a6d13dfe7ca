/** Makes commands that call one endpoint of the API and print its result. */
import type { ApiResponse, HookswitchClient, List } from 'hookswitch/client'
import type { Command, CommandContext } from './command.js'
import type { Column } from './table.js'
import { limitFlag } from './values.js'

/** A command without `run` and `isList`. */
type CommandDescription = Omit<Command, 'run' | 'isList'>

/** Makes a command that prints a list. */
export function listCommand<Item extends object>(
  description: CommandDescription,
  columns: readonly Column[],
  open: (
    client: HookswitchClient,
    context: CommandContext,
    pageSize: number,
  ) => List<Item> | Promise<List<Item>>,
): Command {
  return {
    ...description,
    isList: true,
    async run(context) {
      const limit = limitFlag(context)
      const list = await open(context.client(), context, Math.min(limit, MAX_PAGE_SIZE))
      await printList(context, list, columns, limit)
    },
  }
}

const MAX_PAGE_SIZE = 1_000

async function printList<Item extends object>(
  { output, signal, note, flag }: CommandContext,
  list: List<Item>,
  columns: readonly Column[],
  limit: number,
): Promise<void> {
  let left = limit
  let count = 0
  for await (const { items, nextStartKey } of list.pages()) {
    const shown = items.slice(0, left)
    await output.items(shown, columns)
    count += shown.length
    left -= shown.length
    if (left <= 0) {
      const isCut = nextStartKey !== undefined || shown.length < items.length
      if (isCut && flag('limit') === undefined) note(`there are more than ${limit}: --limit all prints all`)
      return
    }
    if (signal.aborted) return
  }
  if (count === 0 && output.isTerminal && !output.isJson) note('there are none')
}

/** Makes a command that prints `data` of one response. */
export function callCommand(
  description: CommandDescription,
  call: (client: HookswitchClient, context: CommandContext) => Promise<ApiResponse<unknown>>,
): Command {
  return {
    ...description,
    async run(context) {
      const { data, warnings = [] } = await call(context.client(), context)
      await context.output.document(data)
      for (const { path, message } of warnings) context.note(`${path}: ${message}`)
    },
  }
}

/** Makes a command that prints one text, such as a secret, so that it can be captured. */
export function textCommand(
  description: CommandDescription,
  call: (client: HookswitchClient, context: CommandContext) => Promise<{ text: string; document: object }>,
): Command {
  return {
    ...description,
    async run(context) {
      const { text, document } = await call(context.client(), context)
      await context.output.text(text, document)
    },
  }
}
