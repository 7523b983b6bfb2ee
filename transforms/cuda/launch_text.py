KERNEL = '''
class Kernel:
    """A kernel of the module; a call launches it."""

    def __init__(self, name, arguments, *, team=None, results=(), errors=(), scratch=(), joins=()):
        self.name, self.arguments, self.team, self.results = name, arguments, team, results
        self.errors, self.scratch, self.joins = errors, scratch, joins

    def __call__(self, rows, *args, own=(), sums=()):
        raise NotImplementedError
'''
