import { DefaultReporter, type TestModule } from 'vitest/node'

/** Vitest's default reporter without a line for each file that passes: failures, the progress in a terminal, the summary. */
export class QuietReporter extends DefaultReporter {
  protected override printTestModule(module: TestModule): void {
    if (module.state() === 'failed') super.printTestModule(module)
  }
}
