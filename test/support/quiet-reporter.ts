import { DefaultReporter, type TestModule } from 'vitest/node'

/** What tests print when something that they need is not installed. */
const NOT_TESTED = /^\s*(\*\*\*|SKIPPED|NOT RUN)/

/**
 * Vitest's default reporter without a line for each file that passes: failures, the progress in a terminal, the summary, and
 * what was not tested.
 */
export class QuietReporter extends DefaultReporter {
  protected override printTestModule(module: TestModule): void {
    if (module.state() === 'failed') super.printTestModule(module)
  }

  override shouldLog(...args: Parameters<DefaultReporter['shouldLog']>): boolean {
    return NOT_TESTED.test(args[0].content) || super.shouldLog(...args)
  }
}
