import type { Command } from 'commander';
import { candidates } from '../completion.ts';
import { print } from '../output.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** `tally completion`: prints scripts by which a shell asks `tally complete` for completions. */
export function completionCommands(program: Command): void {
  program
    .command('completion')
    .summary('complete commands and options in your shell')
    .description('Prints the script by which a shell completes the commands and options of `tally`.')
    .addArgument(program.createArgument('<shell>', 'your shell').choices([...SHELLS]))
    .addHelpText('after', HELP)
    .action((shell: (typeof SHELLS)[number]) => print(SCRIPTS[shell]));

  program
    .command('complete', { hidden: true })
    .description('Prints what may stand where the last of the words is, each with its summary after a tab.')
    .argument('[words...]', 'the command line after `tally`')
    .helpOption(false)
    .allowUnknownOption()
    .action((words: string[]) => {
      for (const { text, summary } of candidates(program, words)) print(`${text}\t${summary}`);
    });
}

const HELP = `
Examples, for good:
  $ echo 'eval "$(tally completion bash)"' >> ~/.bashrc
  $ echo 'eval "$(tally completion zsh)"' >> ~/.zshrc      after compinit
  $ tally completion fish > ~/.config/fish/completions/tally.fish`;

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_tally() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(tally complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -o default -F _tally tally`,
  zsh: `_tally() {
  local line
  local -a found
  for line in "\${(@f)$(tally complete -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#found} )); then _describe tally found; else _files; fi
}
compdef _tally tally`,
  fish: `function __tally_complete
  set -l words (commandline -opc) (commandline -ct)
  tally complete -- $words[2..-1] 2> /dev/null
end
complete -c tally -k -a '(__tally_complete)'`,
};
